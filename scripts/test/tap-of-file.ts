export { testOfFile as default } from './process.ts';
