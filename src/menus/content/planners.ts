import { type StoredText, sizeOfStored } from '../stored-menu.ts';
import {
  type ItemRows,
  type ModifierRows,
  type NewIds,
  type Outcome,
  Planner,
  type SentImport,
} from './planner.ts';
import type { ImportQuestion } from './thread.ts';
import { converse, smallSize } from './threads.ts';

/** A Planner, in this thread or another. */
export interface RemotePlanner {
  speaksOfGroups(): Promise<boolean>;
  plan(stored: StoredText | undefined): Promise<Outcome>;
  placeItems(categories: NewIds, groups: NewIds): Promise<ItemRows>;
  placeModifiers(items: NewIds, groups: NewIds): Promise<ModifierRows>;
  /** Must be called at the end. */
  close(): void;
}

/**
 * In this thread for a small import, in another for a large one. @throws 422 for a small body that is not a document at
 * all.
 */
export function openPlanner(clientId: string, sent: SentImport): RemotePlanner {
  let planner = sent.body.length <= smallSize ? plannerHere(sent) : plannerOnThread(clientId, sent);
  return {
    speaksOfGroups: () => planner.speaksOfGroups(),
    plan(stored) {
      const size = sent.body.length + (stored ? sizeOfStored(stored) : 0);
      if (size > smallSize && !planner.isOnThread) planner = plannerOnThread(clientId, sent);
      return planner.plan(stored);
    },
    placeItems: (categories, groups) => planner.placeItems(categories, groups),
    placeModifiers: (items, groups) => planner.placeModifiers(items, groups),
    close: () => planner.close(),
  };
}

type PlacedPlanner = RemotePlanner & { isOnThread: boolean };

function plannerHere(sent: SentImport): PlacedPlanner {
  const planner = new Planner(sent);
  planner.requireReadable();
  return {
    isOnThread: false,
    speaksOfGroups: async () => planner.speaksOfGroups(),
    plan: async (stored) => planner.plan(stored),
    placeItems: async (categories, groups) => planner.placeItems(categories, groups),
    placeModifiers: async (items, groups) => planner.placeModifiers(items, groups),
    close: () => {},
  };
}

function plannerOnThread(clientId: string, sent: SentImport): PlacedPlanner {
  const { ask, close } = converse(clientId, sent);
  return {
    isOnThread: true,
    speaksOfGroups: () => ask({ ask: 'speaksOfGroups', with: [] } satisfies ImportQuestion),
    plan: (stored) => ask({ ask: 'plan', with: [stored] } satisfies ImportQuestion),
    placeItems: (...ids) => ask({ ask: 'placeItems', with: ids } satisfies ImportQuestion),
    placeModifiers: (...ids) => ask({ ask: 'placeModifiers', with: ids } satisfies ImportQuestion),
    close,
  };
}
