/** Text of models and tools inside a prompt, framed so that it cannot break out. */

/**
 * `text` inside `<untrusted source="…">`: an end of the frame is written `<\\/untrusted`, control characters
 * but line breaks and tabs as `\\uXXXX`.
 */
export function untrusted(source: string, text: string): string {
  const safe = text
    .replaceAll(/<\/untrusted/gi, (tag) => `<\\${tag.slice(1)}`)
    .replaceAll(controlCharacters, (character) => {
      const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
      return `\\u${code}`;
    });
  return `<untrusted source="${source}">${safe}</untrusted>`;
}

const controlCharacters = /(?![\n\t])\p{Cc}/gu;
