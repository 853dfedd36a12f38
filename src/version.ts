import manifest from '../package.json' with { type: 'json' };

/** Version of this software; that of the contract is its `info.version`. */
export const { version } = manifest;
