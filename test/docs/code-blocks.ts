/** The fenced code blocks of a Markdown file. */
export interface CodeBlock {
  readonly language: string;
  /** What else the fence says: a file name, or how the block is to be run. */
  readonly remark: string;
  readonly text: string;
  /** Of the fence, counted from 1. */
  readonly line: number;
}

const fence = /^```(\S*) *(.*)$/;

export function codeBlocks(markdown: string): readonly CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { language: string; remark: string; line: number; lines: string[] } | undefined;
  for (const [index, text] of markdown.split("\n").entries()) {
    const found = fence.exec(text);
    if (open === undefined && found !== null) {
      open = { language: found[1] ?? "", remark: found[2] ?? "", line: index + 1, lines: [] };
    } else if (open !== undefined && text === "```") {
      blocks.push({
        language: open.language,
        remark: open.remark,
        line: open.line,
        text: `${open.lines.join("\n")}\n`,
      });
      open = undefined;
    } else {
      open?.lines.push(text);
    }
  }
  return blocks;
}
