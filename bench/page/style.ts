/** How the report page looks. */
export const style = `
  body { font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; max-width: 66rem; margin: 2rem auto; padding: 0 1rem; color: #22282e; }
  h2 { margin-top: 3rem; } h3 { margin: 2.2rem 0 0.3rem; }
  nav a { margin-right: 0.6rem; }
  table { border-collapse: collapse; width: 100%; margin: 0.5rem 0; font-size: 0.88rem; }
  th, td { text-align: right; padding: 0.25rem 0.6rem; border-bottom: 1px solid #dde2e6; vertical-align: top; }
  th { color: #59636c; font-weight: 600; vertical-align: bottom; }
  th.words, td.words { text-align: left; }
  tr.best td { font-weight: 600; } tr.group td { background: #f1f4f6; font-weight: 600; }
  .good { color: #1d7a46; } .bad { color: #b3261e; } .open { color: #7a6a1d; } .note { color: #59636c; font-size: 0.88rem; }
  .tag { font-weight: 600; white-space: nowrap; }
  figure { margin: 0.4rem 0; } svg { width: 100%; height: auto; }
  dl { font-size: 0.88rem; display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 1rem; } dt { font-weight: 600; } dd { margin: 0; }
`;
