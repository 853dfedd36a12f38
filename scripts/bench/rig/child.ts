import { fork } from 'node:child_process';
import { once } from 'node:events';

/** A process that answers one question at a time. */
export interface Child<Question, Answer> {
  ask(question: Question): Promise<Answer>;
  stop(): Promise<void>;
}

type Message<Answer> = { value: Answer } | { error: string };

/** Starts a module of this directory as a process, so that it shares no event loop with what it measures. */
export function startChild<Question, Answer>(module: string): Child<Question, Answer> {
  const child = fork(new URL(module, import.meta.url), { serialization: 'advanced', execArgv: [] });
  let asked: PromiseWithResolvers<Answer> | undefined;
  child.on('message', (message: Message<Answer>) => {
    if ('error' in message) asked?.reject(new Error(message.error));
    else asked?.resolve(message.value);
  });
  child.on('exit', (code) => asked?.reject(new Error(`${module} ended with status ${code}`)));
  return {
    ask(question) {
      asked = Promise.withResolvers();
      child.send(question as object);
      return asked.promise;
    },
    async stop() {
      if (!child.connected) return;
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

/** The child's side: answers what the parent asks, and ends with it. */
export function answer<Question, Answer>(reply: (question: Question) => Promise<Answer>): void {
  process.on('message', (question: Question) => {
    reply(question).then(
      (value) => process.send?.({ value }),
      (error: Error) => process.send?.({ error: error.message }),
    );
  });
  // The parent decides when to end, even when Ctrl-C reaches both.
  process.on('SIGINT', () => {});
  process.on('disconnect', () => process.exit());
}
