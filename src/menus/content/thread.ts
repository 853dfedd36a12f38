/** A thread of threads.ts. */
import { type MessagePort, parentPort } from 'node:worker_threads';
import type { StoredText } from '../stored-menu.ts';
import { Planner } from './planner.ts';
import type { Work } from './threads.ts';
import { type Form, writeDocument } from './write-document.ts';

/** The questions that an import asks, one after the other. */
export type ImportQuestion = {
  [Q in 'speaksOfGroups' | 'plan' | 'placeItems' | 'placeModifiers']: {
    ask: Q;
    with: Parameters<Planner[Q]>;
  };
}['speaksOfGroups' | 'plan' | 'placeItems' | 'placeModifiers'];

/** The only question of an export. */
export interface ExportQuestion {
  stored: StoredText;
  form: Form;
}

parentPort?.on('message', ({ work, port }: { work: Work; port: MessagePort }) => {
  if (work === 'export') {
    port.on('message', ({ stored, form }: ExportQuestion) => {
      const document = writeDocument(stored, form);
      port.postMessage(document, [document.buffer]);
    });
    return;
  }
  let planner: Planner | undefined;
  port.on('message', (question: ImportQuestion) => {
    planner ??= new Planner(work);
    port.postMessage(reply(planner, question));
  });
});

function reply(planner: Planner, question: ImportQuestion) {
  switch (question.ask) {
    case 'speaksOfGroups':
      return planner.speaksOfGroups();
    case 'plan':
      return planner.plan(...question.with);
    case 'placeItems':
      return planner.placeItems(...question.with);
    case 'placeModifiers':
      return planner.placeModifiers(...question.with);
  }
}
