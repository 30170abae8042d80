/** Frames text of models and tools inside a prompt so that it cannot break out. */

/** `text` inside `<untrusted source="…">`. */
export function untrusted(source: string, text: string): string {
  return `<untrusted source="${source}">${withoutFrames(text)}</untrusted>`;
}

/**
 * `text` with the closing tag of the frame written `<\/untrusted`, and control characters except
 * line breaks and tabs as `\uXXXX`. Also for lines beside a frame that quote its content.
 */
export function withoutFrames(text: string): string {
  return text
    .replaceAll(/<\/untrusted/gi, (tag) => `<\\${tag.slice(1)}`)
    .replaceAll(controlCharacters, (character) => {
      const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
      return `\\u${code}`;
    });
}

const controlCharacters = /(?![\n\t])\p{Cc}/gu;

/** `text` on one line, with ends of frames escaped. */
export function framedLine(text: string): string {
  return withoutFrames(text.replaceAll(/[\s\u0085\u2028\u2029]+/gu, ' ').trim());
}
