import document from '../../generated/openapi.json' with { type: 'json' };

/** How this service names itself to receivers: with the version of the contract that it serves. */
export const userAgent = `menu-management-service/${document.info.version}`;
