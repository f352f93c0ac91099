/** "Go to definition" from a publisher, a handler, a guard and a property lands in the schema file, asked of a language server. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { realpath, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, it } from "node:test";
import { generate } from "../../codegen/generate.js";
import { type TestProject, testProject } from "./project.js";

const source = [
  'import { isEmailSend, onEmailSend, publishTo, type OrderPlaced } from "./generated/index.js";',
  "declare const order: OrderPlaced;",
  "publishTo.orderPlaced(order);",
  "onEmailSend(async () => {});",
  "isEmailSend(order);",
  "order.total;",
  "order.address.city;",
  "order.lines[0]!.quantity;",
  'if (order.payment?.method === "card") order.payment.token;',
].join("\n");

interface Definition {
  readonly file: string;
  readonly start: { readonly line: number };
}

/** tsserver's own protocol: a request per line, answers with a length header that the line reader skips over. */
class Server {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, (body: unknown) => void>();
  #sequence = 0;

  constructor(cwd: string) {
    const path = createRequire(import.meta.url).resolve("typescript/lib/tsserver.js");
    this.#process = spawn(process.execPath, [path, "--disableAutomaticTypingAcquisition"], { cwd, stdio: "pipe" });
    const lines = createInterface({ input: this.#process.stdout as NodeJS.ReadableStream });
    lines.on("line", (line) => {
      if (!line.startsWith("{")) return;
      const answer = JSON.parse(line) as { type: string; request_seq?: number; body?: unknown };
      if (answer.type === "response") this.#waiting.get(answer.request_seq ?? -1)?.(answer.body);
    });
  }

  send(command: string, args: object): number {
    this.#sequence += 1;
    const request = { seq: this.#sequence, type: "request", command, arguments: args };
    this.#process.stdin?.write(`${JSON.stringify(request)}\n`);
    return this.#sequence;
  }

  ask(command: string, args: object): Promise<unknown> {
    const sequence = this.send(command, args);
    return new Promise((resolve) => this.#waiting.set(sequence, resolve));
  }

  stop(): void {
    this.#process.kill();
  }
}

describe("go to definition", { timeout: 60_000 }, () => {
  let project: TestProject;
  let server: Server;
  let main: string;

  before(async () => {
    const folder = new URL("../../schemas/", import.meta.url);
    const names = (readdirSync(folder, { recursive: true }) as string[]).filter((name) => name.endsWith(".json"));
    project = await testProject(
      Object.fromEntries(names.map((name) => [name, readFileSync(new URL(name, folder), "utf8")])),
    );
    await generate({ cwd: project.cwd });
    main = join(await realpath(project.cwd), "main.ts");
    await writeFile(main, source);
    const compilerOptions = { module: "nodenext", strict: true, types: [] };
    await writeFile(join(project.cwd, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["main.ts"] }));
    server = new Server(project.cwd);
    server.send("open", { file: main, fileContent: source });
  });
  after(async () => {
    server.stop();
    await project.remove();
  });

  const jumps: readonly [word: string, line: number, file: string, text: string][] = [
    ["orderPlaced", 3, "order-placed.json", "{"],
    ["onEmailSend", 4, "email-send.json", "{"],
    ["isEmailSend", 5, "email-send.json", "{"],
    ["total", 6, "order-placed.json", '"total"'],
    ["address", 7, "order-placed.json", '"address"'],
    ["city", 7, "_shared/address.json", '"city"'],
    ["quantity", 8, "order-placed.json", '"quantity"'],
    ["token", 9, "order-placed.json", '"token"'],
  ];
  for (const [word, line, file, text] of jumps) {
    it(`${word} -> ${file}`, async () => {
      const offset = (source.split("\n")[line - 1]?.lastIndexOf(word) ?? 0) + 1;
      const found = (await server.ask("definition", { file: main, line, offset })) as Definition[];
      const target = found[0];
      assert.ok(target);
      assert.ok(target.file.endsWith(`schemas/${file}`), JSON.stringify(found));
      const there = readFileSync(target.file, "utf8").split("\n")[target.start.line - 1];
      assert.ok(there?.trim().startsWith(text), `line ${target.start.line}: ${there}`);
    });
  }

  it("hover shows the schema's words and the queue's settings", async () => {
    const offset = (source.split("\n")[2]?.indexOf("orderPlaced") ?? 0) + 1;
    const hover = (await server.ask("quickinfo", { file: main, line: 3, offset })) as { documentation: unknown };
    const text = JSON.stringify(hover.documentation);
    assert.match(text, /A customer placed an order/);
    assert.match(text, /5 deliveries, then dead letters/);
  });

  it("publishTo. completes", async () => {
    const offset = (source.split("\n")[2]?.indexOf(".") ?? 0) + 2;
    const list = (await server.ask("completionInfo", { file: main, line: 3, offset })) as {
      entries: { name: string }[];
    };
    const names = list.entries.map(({ name }) => name);
    for (const name of ["emailSend", "orderPlaced", "searchReindex"]) assert.ok(names.includes(name));
  });
});
