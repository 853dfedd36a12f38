/*
 * Changes of a contract, each as a small edit of the released one. They name what the interface promises for good
 * (operations, their fields, scopes) and nothing that may be said in another way tomorrow.
 */

// biome-ignore lint/suspicious/noExplicitAny: edits reach anywhere in the document
export type Contract = any;

export interface Change {
  title: string;
  edit: (contract: Contract) => void;
}

export interface BreakingChange extends Change {
  /** What must be among the findings: `rule: place`. */
  findings: string[];
}

const paths = {
  menus: '/menus',
  items: '/menus/{menu_id}/items',
  item: '/menus/{menu_id}/items/{item_id}',
  toggle: '/menus/{menu_id}/items/{item_id}/toggle',
  content: '/menus/{menu_id}/content',
};

const schema = (contract: Contract, name: string) => contract.components.schemas[name];
const text = { type: 'string', maxLength: 64, description: 'New.', example: 'new' };

function without<T>(list: T[], member: T): T[] {
  if (!list.includes(member)) throw new Error(`${member} is not there to be taken away`);
  return list.filter((one) => one !== member);
}

/** Writes a response out in place, so that an edit reaches this operation alone. */
function ownResponse(contract: Contract, operation: Contract, status: string): Contract {
  const { $ref } = operation.responses[status];
  if ($ref) operation.responses[status] = structuredClone(contract.components.responses[nameOf($ref)]);
  return operation.responses[status];
}

/** The named component that a reference leads to. */
function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

/** The parameter of this name, as a component of its own. */
function parameter(contract: Contract, operation: Contract, name: string): Contract {
  const list: Contract[] = operation.parameters;
  const index = list.findIndex((one) => resolve(contract, one).name === name);
  if (index < 0) throw new Error(`there is no parameter ${name}`);
  list[index] = structuredClone(resolve(contract, list[index]));
  return list[index];
}

function resolve(contract: Contract, node: Contract): Contract {
  if (!node.$ref) return node;
  return node.$ref
    .slice(2)
    .split('/')
    .reduce((at: Contract, key: string) => at[key], contract);
}

/** Gives a property a schema of its own in place of a reference. */
function ownProperty(contract: Contract, name: string, property: string): Contract {
  const { properties } = schema(contract, name);
  const { $ref, ...beside } = properties[property];
  if ($ref) properties[property] = { ...structuredClone(resolve(contract, { $ref })), ...beside };
  return properties[property];
}

/** Changes that break a client. */
export const breaking: BreakingChange[] = [
  {
    title: 'an operation is removed',
    findings: ['operation-removed: DELETE /menus/{menu_id}/items/{item_id} (deleteItem)'],
    edit: (c) => delete c.paths[paths.item].delete,
  },
  {
    title: 'a path is removed',
    findings: ['path-removed: /menus/{menu_id}/items/{item_id}/toggle'],
    edit: (c) => delete c.paths[paths.toggle],
  },
  {
    title: 'a path is renamed',
    findings: ['path-removed: /menus/{menu_id}/dishes'],
    edit: (c) => {
      c.paths['/menus/{menu_id}/dishes'] = c.paths[paths.items];
      delete c.paths[paths.items];
    },
  },
  {
    title: 'a parameter of a path gets another name',
    findings: ['path-parameter-renamed: /menus/{id}'],
    edit: (c) => {
      c.paths['/menus/{id}'] = c.paths['/menus/{menu_id}'];
      delete c.paths['/menus/{menu_id}'];
      for (const operation of Object.values<Contract>(c.paths['/menus/{id}'])) {
        parameter(c, operation, 'menu_id').name = 'id';
      }
    },
  },
  {
    title: 'the address of the service changes',
    findings: ['server-removed: servers/0/url'],
    edit: (c) => (c.servers[0].url = '/api/v2'),
  },
  {
    title: 'an operationId changes',
    findings: ['operation-id-changed: GET /menus/{menu_id}/items/{item_id} (getItem) operationId'],
    edit: (c) => (c.paths[paths.item].get.operationId = 'fetchItem'),
  },
  {
    title: 'an operation moves to another tag, which names the class in generated clients',
    findings: ['operation-tag-changed: GET /menus/{menu_id}/items/{item_id} (getItem) tags'],
    edit: (c) => (c.paths[paths.item].get.tags = ['Menus']),
  },
  {
    title: 'a named schema gets another name',
    findings: ['schema-removed: schemas/Item'],
    edit: (c) => {
      c.components.schemas.Dish = c.components.schemas.Item;
      delete c.components.schemas.Item;
      const point = (node: Contract): void => {
        if (node === null || typeof node !== 'object') return;
        if (node.$ref === '#/components/schemas/Item') node.$ref = '#/components/schemas/Dish';
        for (const part of Object.values(node)) point(part);
      };
      point(c);
    },
  },
  {
    title: 'a response field is removed',
    findings: [
      'required-properties-removed: schemas/Item/required',
      'property-removed: schemas/Item/properties/photo_url',
    ],
    edit: (c) => {
      const item = schema(c, 'Item');
      delete item.properties.photo_url;
      item.required = without(item.required, 'photo_url');
    },
  },
  {
    title: 'a response field is renamed',
    findings: [
      'required-properties-removed: schemas/Item/required',
      'property-removed: schemas/Item/properties/photo_url',
    ],
    edit: (c) => {
      const item = schema(c, 'Item');
      item.properties.image_url = item.properties.photo_url;
      delete item.properties.photo_url;
      item.required = [...without(item.required, 'photo_url'), 'image_url'];
    },
  },
  {
    title: 'a response field is no longer always there',
    findings: ['required-properties-removed: schemas/Item/required'],
    edit: (c) => (schema(c, 'Item').required = without(schema(c, 'Item').required, 'allergens')),
  },
  {
    title: 'a request field is removed',
    findings: ['property-removed: schemas/ItemUpdate/properties/sort_order'],
    edit: (c) => delete schema(c, 'ItemUpdate').properties.sort_order,
  },
  {
    title: 'a request gets a new required field',
    findings: ['required-properties-added: schemas/ItemCreate/required'],
    edit: (c) => {
      schema(c, 'ItemCreate').properties.station = text;
      schema(c, 'ItemCreate').required.push('station');
    },
  },
  {
    title: 'an optional request field becomes required',
    findings: ['required-properties-added: schemas/ItemCreate/required'],
    edit: (c) => schema(c, 'ItemCreate').required.push('description'),
  },
  {
    title: 'a request takes one value less of an enumeration',
    findings: ['enum-values-removed: schemas/EventTypeFilter/enum'],
    edit: (c) => (schema(c, 'EventTypeFilter').enum = without(schema(c, 'EventTypeFilter').enum, 'item.*')),
  },
  {
    title: 'an answer brings a value that its enumeration did not have',
    findings: ['enum-values-added: schemas/DeliveryState/enum'],
    edit: (c) => schema(c, 'DeliveryState').enum.push('lost'),
  },
  {
    title: 'a kind of record has no events any more',
    findings: ['schema-constraint-changed: schemas/RecordName/pattern'],
    edit: (c) => (schema(c, 'RecordName').pattern = '^(location|menu|category):[1-9][0-9]{0,15}$'),
  },
  {
    title: 'bounds of a request are narrower',
    findings: [
      'schema-constraint-changed: schemas/ItemUpdate/properties/name/maxLength',
      'schema-constraint-changed: schemas/ItemUpdate/properties/name/minLength',
      'schema-constraint-changed: schemas/ItemUpdate/properties/name/pattern',
      'schema-constraint-changed: schemas/ItemUpdate/properties/price/maximum',
      'schema-constraint-changed: schemas/ItemUpdate/properties/price/minimum',
      'schema-constraint-changed: schemas/ItemUpdate/properties/price/multipleOf',
      'schema-constraint-changed: schemas/ItemUpdate/properties/allergens/maxItems',
      'schema-constraint-changed: schemas/ItemUpdate/properties/description/format',
      'check-changed: schemas/ItemUpdate/properties/description/x-check',
    ],
    edit: (c) => {
      const own = (property: string) => ownProperty(c, 'ItemUpdate', property);
      Object.assign(own('name'), { minLength: 3, maxLength: 100, pattern: '^[A-Z]' });
      Object.assign(own('price'), { minimum: 0.01, maximum: 99.99, multipleOf: 0.05 });
      own('allergens').maxItems = 8;
      Object.assign(own('description'), { format: 'uri', 'x-check': 'line' });
    },
  },
  {
    title: 'an answer brings longer text than it did',
    findings: ['schema-constraint-changed: schemas/Item/properties/name/maxLength'],
    edit: (c) => (ownProperty(c, 'Item', 'name').maxLength *= 2),
  },
  {
    title: 'types change',
    findings: [
      'schema-type-changed: schemas/Item/properties/price/type',
      'schema-type-changed: schemas/Item/properties/is_available/type',
      'schema-type-changed: schemas/ItemUpdate/properties/photo_url/type',
    ],
    edit: (c) => {
      ownProperty(c, 'Item', 'price').type = 'string';
      ownProperty(c, 'Item', 'is_available').type = ['boolean', 'null'];
      ownProperty(c, 'ItemUpdate', 'photo_url').type = 'string';
    },
  },
  {
    title: 'a response field refers to another schema',
    findings: ['property-removed: schemas/Item/properties/price'],
    edit: (c) => (schema(c, 'ItemResponse').properties.data.$ref = '#/components/schemas/Category'),
  },
  {
    title: 'a parameter is removed',
    findings: ['parameter-removed: GET /menus/{menu_id}/items (listItems) parameters/3'],
    edit: (c) => {
      const { get } = c.paths[paths.items];
      get.parameters = without(get.parameters, parameter(c, get, 'dietary_tag'));
    },
  },
  {
    title: 'a parameter becomes required',
    findings: ['parameter-became-required: GET /menus/{menu_id}/items (listItems) parameters/1/required'],
    edit: (c) => (parameter(c, c.paths[paths.items].get, 'category_id').required = true),
  },
  {
    title: 'an operation gets a new required parameter',
    findings: [
      'parameter-became-required: GET /menus/{menu_id}/items/{item_id} (getItem) parameters/3/required',
    ],
    edit: (c) =>
      c.paths[paths.item].get.parameters.push({ name: 'day', in: 'query', required: true, schema: text }),
  },
  {
    title: 'what is left out means something else',
    findings: [
      'default-changed: GET /menus (listMenus) parameters/2/schema/default',
      'default-changed: schemas/ItemCreate/properties/description/default',
    ],
    edit: (c) => {
      parameter(c, c.paths[paths.menus].get, 'limit').schema.default = 10;
      schema(c, 'ItemCreate').properties.description.default = 'None.';
    },
  },
  {
    title: 'an operation demands a body',
    findings: ['request-body-added: POST /menus/{menu_id}/items/{item_id}/toggle (toggleItem) requestBody'],
    edit: (c) => {
      const { post } = c.paths[paths.toggle];
      post.requestBody = { required: true, content: { 'application/json': { schema: text } } };
    },
  },
  {
    title: 'an operation takes no body any more',
    findings: ['request-body-removed: PUT /menus/{menu_id}/items/{item_id} (updateItem) requestBody'],
    edit: (c) => delete c.paths[paths.item].put.requestBody,
  },
  {
    title: 'limits are lower',
    findings: [
      'body-limit-lowered: PUT /menus/{menu_id}/content (importMenu)',
      'body-limit-lowered: POST /menus (createMenu) x-body-limit',
      'rate-limit-lowered: GET /menus (listMenus) x-rate-limit',
      'rate-limit-lowered: POST /oauth/token (issueToken) x-rate-limit/limit',
      'rate-limit-lowered: POST /oauth/token (issueToken) x-rate-limit/window_seconds',
    ],
    edit: (c) => {
      delete c.paths[paths.content].put['x-body-limit'];
      c.paths[paths.menus].post['x-body-limit'] = 1024;
      c.paths[paths.menus].get['x-rate-limit'] = { limit: 1, window_seconds: 1, per: 'client' };
      c.paths['/oauth/token'].post['x-rate-limit'].limit /= 2;
      c.paths['/oauth/token'].post['x-rate-limit'].window_seconds *= 2;
    },
  },
  {
    title: 'an answer is no longer given',
    findings: ['response-removed: GET /menus/{menu_id} (getMenu) responses/304'],
    edit: (c) => delete c.paths['/menus/{menu_id}'].get.responses['304'],
  },
  {
    title: 'an answer has another status',
    findings: ['response-removed: POST /menus/{menu_id}/items (createItem) responses/200'],
    edit: (c) => {
      const { responses } = c.paths[paths.items].post;
      responses['200'] = responses['201'];
      delete responses['201'];
    },
  },
  {
    title: 'a media type of an answer is removed',
    findings: [
      'media-type-removed: GET /menus/{menu_id}/content (exportMenu) responses/200/content/text/csv',
    ],
    edit: (c) => delete ownResponse(c, c.paths[paths.content].get, '200').content['text/csv'],
  },
  {
    title: 'a media type of a request is removed',
    findings: ['media-type-removed: PUT /menus/{menu_id}/content (importMenu) requestBody/content/text/csv'],
    edit: (c) => delete c.paths[paths.content].put.requestBody.content['text/csv'],
  },
  {
    title: 'a header of an answer is removed',
    findings: [
      'response-header-removed: GET /menus/{menu_id}/items/{item_id} (getItem) responses/200/headers/ETag',
    ],
    edit: (c) => delete ownResponse(c, c.paths[paths.item].get, '200').headers.ETag,
  },
  {
    title: 'a header of an answer is no longer always there',
    findings: ['response-header-became-optional: headers/ETag'],
    edit: (c) => delete c.components.headers.ETag.required,
  },
  {
    title: 'a scope is removed',
    findings: ['scope-removed: securitySchemes/oauth/flows/clientCredentials/scopes/availability:write'],
    edit: (c) =>
      delete c.components.securitySchemes.oauth.flows.clientCredentials.scopes['availability:write'],
  },
  {
    title: 'an operation demands another scope',
    findings: [
      'security-requirement-changed: GET /menus/{menu_id}/items/{item_id} (getItem) security/0/oauth',
    ],
    edit: (c) => (c.paths[paths.item].get.security = [{ oauth: ['menus:write'] }]),
  },
  {
    title: 'an operation demands one scope more',
    findings: [
      'security-requirement-changed: GET /menus/{menu_id}/items/{item_id} (getItem) security/0/oauth',
    ],
    edit: (c) => (c.paths[paths.item].get.security = [{ oauth: ['menus:read', 'webhooks:manage'] }]),
  },
  {
    title: 'one of two scopes no longer suffices',
    findings: ['security-requirement-changed: PUT /menus/{menu_id}/items/{item_id} (updateItem) security/1'],
    edit: (c) => c.paths[paths.item].put.security.pop(),
  },
  {
    title: 'the first of two scopes no longer suffices',
    findings: ['security-requirement-changed: PUT /menus/{menu_id}/items/{item_id} (updateItem) security/0'],
    edit: (c) => c.paths[paths.item].put.security.shift(),
  },
  {
    title: 'a public operation demands a token',
    findings: ['security-requirement-changed: POST /oauth/token (issueToken) security/0'],
    edit: (c) => (c.paths['/oauth/token'].post.security = [{ oauth: ['menus:read'] }]),
  },
  {
    title: 'tokens are to be had elsewhere',
    findings: ['token-url-changed: securitySchemes/oauth/flows/clientCredentials/tokenUrl'],
    edit: (c) => (c.components.securitySchemes.oauth.flows.clientCredentials.tokenUrl = '/oauth/token'),
  },
  {
    title: 'another kind of authentication is demanded',
    findings: ['security-scheme-changed: securitySchemes/oauth/type'],
    edit: (c) => (c.components.securitySchemes.oauth = { type: 'http', scheme: 'basic' }),
  },
  {
    title: 'an event is no longer sent',
    findings: ['path-removed: webhook item.toggled'],
    edit: (c) => delete c.webhooks['item.toggled'],
  },
  {
    title: 'an event gets another name',
    findings: ['webhook-renamed: webhook item.switched'],
    edit: (c) => {
      c.webhooks['item.switched'] = c.webhooks['item.toggled'];
      delete c.webhooks['item.toggled'];
    },
  },
  {
    title: 'an event says another type of itself',
    findings: ['schema-constraint-changed: schemas/ItemToggledEvent/properties/type/const'],
    edit: (c) => (schema(c, 'ItemToggledEvent').properties.type.const = 'item.switched'),
  },
  {
    title: 'a field of an event is removed',
    findings: [
      'required-properties-removed: schemas/ItemToggledEvent/required',
      'property-removed: schemas/ItemToggledEvent/properties/previous',
    ],
    edit: (c) => {
      const event = schema(c, 'ItemToggledEvent');
      delete event.properties.previous;
      event.required = without(event.required, 'previous');
    },
  },
  {
    title: 'a field of an event has another type',
    findings: ['schema-type-changed: schemas/ItemToggledEvent/properties/location_id/type'],
    edit: (c) => (ownProperty(c, 'ItemToggledEvent', 'location_id').type = 'string'),
  },
  {
    title: 'events come without headers that they had',
    findings: [
      'webhook-header-removed: webhook item.toggled post/parameters/2',
      'webhook-header-removed: webhook item.created post/parameters',
    ],
    edit: (c) => {
      const { post } = c.webhooks['item.toggled'];
      post.parameters = without(post.parameters, parameter(c, post, 'webhook-signature'));
      delete c.webhooks['item.created'].post.parameters;
    },
  },
  {
    title: 'a header of an event is no longer always there',
    findings: ['webhook-header-became-optional: parameters/DeliverySignature/required'],
    edit: (c) => (c.components.parameters.DeliverySignature.required = false),
  },
  {
    title: 'an event is no longer told apart by the same field',
    findings: ['discriminator-changed: schemas/WebhookPayload/discriminator/propertyName'],
    edit: (c) => (schema(c, 'WebhookPayload').discriminator.propertyName = 'kind'),
  },
  {
    title: 'a field can no longer be sent',
    findings: ['became-read-only: schemas/ItemUpdate/properties/price/readOnly'],
    edit: (c) => (ownProperty(c, 'ItemUpdate', 'price').readOnly = true),
  },
  {
    title: 'creates no longer lead to what follows',
    findings: [
      'link-removed: POST /menus (createMenu) responses/201/links/getMenu',
      'link-removed: POST /menus/{menu_id}/items (createItem) responses/201/links',
    ],
    edit: (c) => {
      delete c.paths[paths.menus].post.responses[201].links.getMenu;
      delete c.paths[paths.items].post.responses[201].links;
    },
  },
  {
    title: 'an event is not told apart at all',
    findings: ['discriminator-changed: schemas/WebhookPayload/discriminator'],
    edit: (c) => delete schema(c, 'WebhookPayload').discriminator,
  },
];

/** Changes that break nobody, and the part of the version that must rise with them. */
export const harmless: (Change & { bump: 'minor' | 'patch' })[] = [
  {
    title: 'a new operation',
    bump: 'minor',
    edit: (c) => {
      const { get } = c.paths[paths.item];
      c.paths['/menus/{menu_id}/specials'] = { get: { ...get, operationId: 'getSpecials' } };
    },
  },
  {
    title: 'a new optional request field',
    bump: 'minor',
    edit: (c) => (schema(c, 'ItemCreate').properties.station = text),
  },
  {
    title: 'a new optional parameter',
    bump: 'minor',
    edit: (c) => c.paths[paths.item].get.parameters.push({ name: 'day', in: 'query', schema: text }),
  },
  {
    title: 'a new response field',
    bump: 'minor',
    edit: (c) => {
      schema(c, 'Item').properties.station = text;
      schema(c, 'Item').required.push('station');
    },
  },
  {
    title: 'a new header of an answer',
    bump: 'minor',
    edit: (c) => {
      const { headers } = ownResponse(c, c.paths[paths.item].get, '200');
      headers['X-Station'] = { description: 'New.', schema: text };
    },
  },
  {
    title: 'a new kind of event',
    bump: 'minor',
    edit: (c) => {
      const event = structuredClone(schema(c, 'ItemToggledEvent'));
      event.properties.type.const = 'item.moved';
      c.components.schemas.ItemMovedEvent = event;
      const $ref = '#/components/schemas/ItemMovedEvent';
      const { oneOf, discriminator } = schema(c, 'WebhookPayload');
      oneOf.push({ $ref });
      discriminator.mapping['item.moved'] = $ref;
      for (const name of ['EventType', 'EventTypeFilter']) schema(c, name).enum.push('item.moved');
      const webhook = structuredClone(c.webhooks['item.toggled']);
      webhook.post.requestBody.content['application/json'].schema.$ref = $ref;
      c.webhooks['item.moved'] = webhook;
      schema(c, 'RecordName').pattern = schema(c, 'RecordName').pattern.replace('item', 'item|table');
    },
  },
  {
    title: 'a new scope',
    bump: 'minor',
    edit: (c) => (c.components.securitySchemes.oauth.flows.clientCredentials.scopes['menus:admin'] = 'All.'),
  },
  {
    title: 'another scope that suffices',
    bump: 'minor',
    edit: (c) => c.paths[paths.item].get.security.push({ oauth: ['menus:write'] }),
  },
  {
    title: 'a deprecated operation',
    bump: 'minor',
    edit: (c) => (c.paths[paths.item].get.deprecated = true),
  },
  {
    title: 'a wider bound of a request',
    bump: 'patch',
    edit: (c) => (ownProperty(c, 'ItemUpdate', 'name').maxLength *= 2),
  },
  {
    title: 'longer pages for who asks for them',
    bump: 'patch',
    edit: (c) => (parameter(c, c.paths[paths.menus].get, 'limit').schema.maximum *= 2),
  },
  {
    title: 'a required request field that may be left out now',
    bump: 'patch',
    edit: (c) => (schema(c, 'ItemCreate').required = without(schema(c, 'ItemCreate').required, 'price')),
  },
  {
    title: 'a narrower bound of an answer',
    bump: 'patch',
    edit: (c) => (ownProperty(c, 'Item', 'name').maxLength = 100),
  },
  {
    title: 'other words',
    bump: 'patch',
    edit: (c) => {
      c.info.description = 'Menus.';
      c.paths[paths.item].get.summary = 'Read an item';
      c.paths[paths.item].get.description = 'Reads an item.';
      schema(c, 'Item').description = 'A dish.';
      c.components.securitySchemes.oauth.flows.clientCredentials.scopes['menus:read'] = 'Read them.';
    },
  },
];
