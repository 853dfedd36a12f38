/** The thread of response-check.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { contractCheck, type SentAnswer } from './contract-check.ts';

const check = contractCheck(workerData);
parentPort?.on('message', (sent: SentAnswer[]) => parentPort?.postMessage(sent.map(check.ofResponse)));
