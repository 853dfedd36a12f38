/**
 * A client generated from the published document, in a folder of its own: `client.ts`, which exports
 * `client: Client`, the tool's configuration, and the handwritten scenario (TypeScript below `src/`, which is
 * checked with the generated code, not with the project).
 *
 * The scenario is given API_URL (…/api/v1), CLIENT_ID, CLIENT_SECRET and WEBHOOK_URL, calls the service through
 * the generated client alone, and prints the lines of expectation.ts.
 */
export interface Client {
  /** Shown in progress and chosen on the command line; the folder's name. */
  name: string;
  /** What the generator reads: fetched from the service into `openapi.json` of the work folder. */
  edition: '3.1' | '3.0';
  /** Run by `--changed` in any case: it takes little time. */
  quick?: true;
  /** Commands that must succeed (`go version`), each with what to install when it does not. */
  needs: Record<string, string>;
  /** Of the work folder, a copy of the client's folder: installed dependencies and build caches, kept between runs. */
  keep: string[];
  /**
   * Commands run in the work folder, in this order; what is installed in its `node_modules` or `.venv` is on the PATH.
   * Installing belongs to `generate`.
   */
  generate: string[][];
  build: string[][];
  run: string[];
  /** Lines of the tools that warn, each with the reason why that is well; any other one fails. */
  explained?: Explained[];
  /** What must not be in generated code: untyped values where the document has a schema. */
  loose: Loose;
}

export interface Explained {
  line: RegExp;
  reason: string;
}

export interface Loose {
  /** Paths of generated files, relative to the work folder; at least one must match. */
  files: RegExp;
  /** What no line of them may hold. */
  pattern: RegExp;
  allowed?: Explained[];
}
