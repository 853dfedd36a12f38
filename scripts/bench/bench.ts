import type { Sample } from './rig/closed-loop.ts';
import type { BenchServer } from './rig/server.ts';

/** One bench, in a file of its own; benches.ts lists them. */
export interface Bench {
  /** How the command line names it. */
  name: string;
  /** One line for --help. */
  about: string;
  table: Table;
  /** Returns rows of the table. */
  run(rig: Rig): Promise<string[][]>;
}

/** Rows of benches that share a table are printed below one heading. */
export interface Table {
  heading: string[];
  /** What a reader of the figures must know, one line each. */
  notes: string[];
}

/** What a bench is given. */
export interface Rig {
  server: BenchServer;
  options: Options;
  /** A line of progress. */
  say(line: string): void;
  /** Takes a figure for the record and the plot. */
  note(figure: Figure): void;
}

/** The result of an operation at one number of connections. */
export interface Figure {
  operation: string;
  connections: number;
  api: Sample;
  /** Requests per second ÷ those of its SQL alone in the alternating rounds. */
  ratio: number;
}

export interface Options {
  rounds: number;
  seconds: number;
  connections: number[];
  /** Smaller amounts, to see whether the bench works. */
  quick: boolean;
  /** Environment of the service, beyond what the benches set. */
  environment: Record<string, string>;
  /** Another checkout of the service, for the benches that compare with one. */
  against?: string;
}
