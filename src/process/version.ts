import manifest from '../../package.json' with { type: 'json' };

/** Version of this software; that of the contract is its `info.version`. */
export const { version } = manifest;

/** How this service names itself to receivers. */
export const userAgent = `menu-management-service/${version}`;
