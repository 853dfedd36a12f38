/** What a test file gets as `tap`; loaded anew for each file, by the query of its URL. */
export { testOfFile as default } from './process.ts';
