// biome-ignore lint/suspicious/noExplicitAny: a document is changed by hand here
type Document = any;

/** A change after which the document no longer says what the service does. */
export interface Lie {
  about: string;
  /** Method and path under which Schemathesis reports it. */
  operation: string;
  operationId: string;
  /** The failure it must report; `schemathesis explain ST103` tells what one is. */
  failure: string;
  tell(document: Document): void;
}

/** One for each kind of check that a document alone can offend; each about another operation. */
export const lies: Lie[] = [
  {
    about: 'a status is not documented',
    operation: 'GET /menus/{menu_id}/categories',
    operationId: 'listCategories',
    failure: 'ST103',
    tell: ({ paths }) => delete paths['/menus/{menu_id}/categories'].get.responses['404'],
  },
  {
    about: 'a field has another type',
    operation: 'GET /locations',
    operationId: 'listLocations',
    failure: 'ST108',
    tell: ({ components }) => Object.assign(components.schemas.Location.properties.name, { type: 'integer' }),
  },
  {
    about: 'a header is promised',
    operation: 'GET /menus',
    operationId: 'listMenus',
    failure: 'ST107',
    tell: ({ paths }) =>
      Object.assign(paths['/menus'].get.responses['200'].headers, {
        'X-Absent': { required: true, schema: { type: 'string' } },
      }),
  },
  {
    about: 'another media type is promised',
    operation: 'GET /webhooks',
    operationId: 'listWebhooks',
    failure: 'ST105',
    tell({ paths }) {
      const response = paths['/webhooks'].get.responses['200'];
      response.content = { 'text/html': response.content['application/json'] };
    },
  },
  {
    about: 'a field that is needed is optional',
    operation: 'POST /locations',
    operationId: 'createLocation',
    failure: 'ST202',
    tell: ({ components }) => Object.assign(components.schemas.LocationCreate, { required: [] }),
  },
  {
    about: 'a bound is narrower',
    operation: 'GET /menus/{menu_id}/items',
    operationId: 'listItems',
    failure: 'ST201',
    tell: ({ components }) => Object.assign(components.parameters.ItemLimit.schema, { maximum: 10 }),
  },
  {
    about: 'a public operation needs a token',
    operation: 'POST /oauth/token',
    operationId: 'issueToken',
    failure: 'ST401',
    tell({ paths }) {
      paths['/oauth/token'].post.security = [{ oauth: [] }];
    },
  },
  {
    about: 'a method does not exist',
    operation: 'PUT /menus/{menu_id}',
    operationId: 'getMenu',
    failure: 'ST204',
    tell: ({ paths }) => delete paths['/menus/{menu_id}'].put,
  },
];
