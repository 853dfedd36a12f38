// Evaluated in a page: texts whose contrast with what is behind them is below that of WCAG 1.4.3, each kind once.
(() => {
  const least = (style) => {
    const size = Number.parseFloat(style.fontSize);
    return size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
  };
  // As rgb(…), or, where colours were mixed, as color(srgb …) with channels from 0 to 1.
  const parse = (colour) => {
    const [red, green, blue, alpha = 1] = colour.match(/(?<![a-z])[\d.]+(e-\d+)?/g).map(Number);
    const scale = /^color\(srgb /.test(colour) ? 255 : 1;
    if (scale === 1 && !/^rgba?\(/.test(colour)) throw new Error(`a colour that is not read: ${colour}`);
    return { channels: [red, green, blue].map((channel) => channel * scale), alpha };
  };
  const over = ({ channels, alpha }, behind) =>
    channels.map((value, index) => value * alpha + behind[index] * (1 - alpha));
  const behind = (node) => {
    if (!node) return [255, 255, 255];
    const colour = parse(getComputedStyle(node).backgroundColor);
    return colour.alpha === 1 ? colour.channels : over(colour, behind(node.parentElement));
  };
  // Relative luminance of sRGB, as WCAG defines it.
  const luminance = (channels) => {
    const [red, green, blue] = channels
      .map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };

  const faint = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode.textContent.trim();
    const node = texts.currentNode.parentElement;
    if (!text || !node.checkVisibility({ opacityProperty: true }) || node.closest('script')) continue;
    // What is there for screen readers alone is clipped to a pixel.
    const { width, height } = node.getBoundingClientRect();
    if (width <= 1 && height <= 1) continue;
    const style = getComputedStyle(node);
    const background = behind(node);
    const [dark, light] = [luminance(background), luminance(over(parse(style.color), background))].sort(
      (one, other) => one - other,
    );
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio >= least(style)) continue;
    faint.add(
      `${node.tagName}.${node.className}: ${style.color} on ${background.map(Math.round)}, ${ratio.toFixed(2)}`,
    );
  }
  return [...faint];
})();
