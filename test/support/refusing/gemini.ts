/** What Gemini refuses. */
import { isForeign, objectsOf, textOf, type Fields } from './json.ts';

interface Turn {
  readonly role: string;
  readonly parts: readonly Fields[];
}

/** Why the server refuses a request to `model` with `body`. */
export function geminiProblem(body: Fields, model: string): string | undefined {
  const turns = objectsOf(body['contents']).map(({ role, parts }): Turn => ({
    role: textOf(role),
    parts: objectsOf(parts),
  }));
  if (turns.length === 0) return '* GenerateContentRequest.contents: contents is not specified';
  if (turns[0]?.role === 'model') {
    return 'Please ensure that multiturn requests start with a user role';
  }
  for (const [index, turn] of turns.entries()) {
    const problem =
      partProblem(turn, index) ??
      orderProblem(turn, turns[index - 1], turns[index + 1]) ??
      (/gemini-3/.test(model) ? signatureProblem(turn) : undefined);
    if (problem !== undefined) return problem;
  }
  return turns.at(-1)?.role === 'model'
    ? 'Please ensure that multiturn requests end with a user role or a function response'
    : undefined;
}

function partProblem({ parts }: Turn, index: number): string | undefined {
  if (parts.length === 0) {
    return `* GenerateContentRequest.contents[${index}].parts: contents.parts must not be empty.`;
  }
  for (const { text, thoughtSignature } of parts) {
    if (typeof text === 'string' && text.trim() === '' && thoughtSignature === undefined) {
      return `Unable to submit request because contents[${index}] has an empty text parameter`;
    }
    if (isForeign(thoughtSignature, 'google')) return 'Corrupted thought signature.';
  }
  return undefined;
}

function countOf(turn: Turn | undefined, field: string): number {
  return turn?.parts.filter((part) => part[field] !== undefined).length ?? 0;
}

function orderProblem(turn: Turn, before?: Turn, next?: Turn): string | undefined {
  const calls = countOf(turn, 'functionCall');
  if (calls > 0 && before?.role === 'model') {
    return 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.';
  }
  if (calls > 0 && countOf(next, 'functionResponse') !== calls) {
    return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
  }
  return countOf(turn, 'functionResponse') > 0 && countOf(before, 'functionCall') === 0
    ? 'Please ensure that function response turn comes immediately after a function call turn.'
    : undefined;
}

/** The first call of a step is signed. */
function signatureProblem({ parts }: Turn): string | undefined {
  const first = parts.find(({ functionCall }) => functionCall !== undefined);
  return first !== undefined && first['thoughtSignature'] === undefined
    ? 'Function call is missing a thought_signature in functionCall parts.'
    : undefined;
}
