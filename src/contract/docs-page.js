// What swagger-ui lacks, added as a plugin of it. Served as a file: the page's policy allows no inline script.

document.head.append(
  Object.assign(document.createElement('meta'), {
    name: 'viewport',
    content: 'width=device-width, initial-scale=1',
  }),
);
document.getElementById('swagger-ui').setAttribute('role', 'main');

const docsPage = ({ React }) => ({
  statePlugins: {
    spec: {
      wrapActions: {
        // The published document, which a browser may keep, and not the copy at /docs/json.
        updateUrl: (update) => () => update('/openapi.json'),
        download: (download) => () => download('/openapi.json'),
      },
      wrapSelectors: { parameterWithMetaByIdentity: withoutGuess },
    },
  },
  wrapComponents: {
    InfoUrl: () => () => links(React.createElement),
    parameterRow: (Row) => (props) => React.createElement(Row, { ...props, param: withExample(props.param) }),
    authorizationPopup: (Popup) => asDialog(Popup, React),
  },
});

// swagger-initializer.js starts the page with this preset when all files have loaded.
window.SwaggerUIStandalonePreset = [window.SwaggerUIStandalonePreset, docsPage];

/**
 * Leaves an optional parameter out until the reader fills it in. swagger-ui would send its example: a cursor of another
 * list, an If-Match of another state, an Idempotency-Key already used.
 */
function withoutGuess(select) {
  return (_state, ...names) => {
    const parameter = select(...names);
    if (!parameter || parameter.get('required') || parameter.has('value')) return parameter;
    return parameter.set('value', null);
  };
}

/** Puts the example that is not sent into the description: swagger-ui shows none while calls can be tried. */
function withExample(parameter) {
  const example = parameter?.get('example');
  if (example === undefined || parameter.get('required')) return parameter;
  const text = typeof example === 'object' ? JSON.stringify(example) : String(example);
  return parameter.update('description', '', (description) => `${description} Example: \`${text}\``);
}

function links(element) {
  const link = (file, text) => element('a', { href: `/${file}` }, text);
  return element(
    'p',
    { className: 'documents' },
    'This document: ',
    link('openapi.json', 'JSON'),
    ', ',
    link('openapi.yaml', 'YAML'),
    '. For tools that do not read OpenAPI 3.1: ',
    link('openapi-3.0.json', '3.0 JSON'),
    ', ',
    link('openapi-3.0.yaml', '3.0 YAML'),
    '.',
  );
}

/** Tells that it is a dialog, keeps the keyboard's focus while it is open, and then gives it back. */
function asDialog(Popup, React) {
  const within = (dialog) => [...dialog.querySelectorAll('button, input')];
  const keepFocus = (event) => {
    const stops = within(event.currentTarget);
    const [end, start] = event.shiftKey ? [stops.at(0), stops.at(-1)] : [stops.at(-1), stops.at(0)];
    if (event.key !== 'Tab' || document.activeElement !== end) return;
    event.preventDefault();
    start.focus();
  };
  return (props) => {
    const dialog = React.useRef(null);
    React.useEffect(() => {
      const opener = document.activeElement;
      within(dialog.current)[0].focus();
      return () => opener.focus();
    }, []);
    return React.createElement(
      'div',
      {
        ref: dialog,
        role: 'dialog',
        'aria-modal': true,
        'aria-label': 'Available authorizations',
        onKeyDown: keepFocus,
      },
      React.createElement(Popup, props),
    );
  };
}
