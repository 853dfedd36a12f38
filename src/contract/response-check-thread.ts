/** The thread of response-check.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { contractCheck, type SentResponse } from './contract-check.ts';

const check = contractCheck(workerData);
parentPort?.on('message', (sent: SentResponse[]) => parentPort?.postMessage(sent.map(check.ofResponse)));
