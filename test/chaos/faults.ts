import type { EmbeddedDeployment } from './deployment/embedded.ts';
import type { ExternalDeployment } from './deployment/external.ts';
import type { Fault } from './faults/fault.ts';
import { killOwnPostmaster, killService, orphanPostgres, stopEmbedded } from './faults/of-embedded.ts';
import {
  databaseAway,
  databaseDark,
  databaseDelays,
  databaseResets,
  databaseStalls,
  receiversAway,
} from './faults/of-network.ts';
import {
  diskFull,
  killBackend,
  killPostmaster,
  noConnections,
  pausePostgres,
  promotion,
  readOnly,
} from './faults/of-postgres.ts';
import { killNode, pauseNode, shiftClock, stopNode } from './faults/of-service.ts';

/** Every fault, by the deployment that it befalls. A new one gets its line here. */
export const faults: { embedded: Fault<EmbeddedDeployment>[]; external: Fault<ExternalDeployment>[] } = {
  embedded: [killService, orphanPostgres, killOwnPostmaster, stopEmbedded],
  external: [
    killNode,
    stopNode,
    pauseNode,
    shiftClock,
    killPostmaster,
    killBackend,
    pausePostgres,
    readOnly,
    noConnections,
    diskFull,
    promotion,
    databaseStalls,
    databaseResets,
    databaseDark,
    databaseAway,
    databaseDelays,
    receiversAway,
  ],
};
