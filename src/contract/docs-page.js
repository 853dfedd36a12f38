// Starts Scalar. A file, since the page's policy allows no inline script.

// Scalar's validators would try whether they may compile code, which the policy forbids.
globalThis.__zod_globalConfig = { jitless: true };

const { scalar, origin } = document.getElementById('reference').dataset;
const [{ createApiReference }, text] = await Promise.all([
  import(scalar),
  fetch('/docs/document.json').then((response) => response.text()),
]);

createApiReference('#reference', {
  content: JSON.parse(text.replaceAll(origin, location.origin)),
  layout: 'modern',
  theme: 'none',
  generateOperationSlug: ({ operationId }) => operationId,
  // By itself, Scalar writes the underscore of an event's name as a hyphen.
  generateWebhookSlug: ({ method, name }) => `${method}/${name}`,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  hiddenClients: true,
  authentication: { preferredSecurityScheme: 'oauth' },
  // Nothing is kept after the page is left, and nothing comes from or goes to another host.
  persistAuth: false,
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  showDeveloperTools: 'never',
  hideClientButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: 'none',
  // A browser meets a refused client secret with a dialog of its own, and keeps the response from the page, unless the
  // request is made without the browser's credentials.
  customFetch: (input, options) => fetch(input, { ...options, credentials: 'omit' }),
});

// Scalar labels the element around a field that it can complete, such as that of the client id, and not the field.
const unnamed = '[contenteditable="true"][role="combobox"]:not([aria-label]):not([aria-labelledby])';
new MutationObserver(() => {
  for (const field of document.querySelectorAll(unnamed)) {
    const label = document.querySelector(`label[for="${field.parentElement.id}"]`);
    if (label) field.setAttribute('aria-label', label.textContent);
  }
}).observe(document.body, { childList: true, subtree: true });
