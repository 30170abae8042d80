/** What Gemini refuses. */
import { isForeign, objectsOf, textOf, type Fields } from './json.ts';
import { schemaProblem, toolsProblem } from './schemas.ts';

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
  if (turns.at(-1)?.role === 'model') {
    return 'Please ensure that multiturn requests end with a user role or a function response';
  }
  return toolProblem(body) ?? configProblem(body, model);
}

/** All functions that a request declares. */
function declaredIn(body: Fields): readonly Fields[] {
  return objectsOf(body['tools']).flatMap((tool) => objectsOf(tool['functionDeclarations']));
}

function toolProblem(body: Fields): string | undefined {
  return toolsProblem(
    declaredIn(body).map(({ name, parameters, parametersJsonSchema }) => ({
      name: textOf(name),
      schema: parameters ?? parametersJsonSchema,
      reader: parameters === undefined ? 'gemini-json' : 'gemini',
    })),
  );
}

function configProblem(body: Fields, model: string): string | undefined {
  const { responseMimeType, responseSchema, responseJsonSchema } = Object(
    body['generationConfig'],
  ) as Fields;
  const { mode } = Object(Object(body['toolConfig'])['functionCallingConfig']) as Fields;
  const tools = declaredIn(body).length;
  if (mode === 'ANY' && tools === 0) {
    return 'Function calling config is set without function_declarations.';
  }
  if (tools > 0 && responseMimeType === 'application/json' && !/gemini-[3-9]/.test(model)) {
    return "Function calling with a response mime type: 'application/json' is unsupported";
  }
  const problem =
    schemaProblem(responseSchema, 'gemini') ?? schemaProblem(responseJsonSchema, 'gemini-json');
  return problem && `* GenerateContentRequest.generation_config.response_schema: ${problem}`;
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
