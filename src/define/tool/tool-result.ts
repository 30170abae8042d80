import { BLOB_SIZES } from '../../core/base/size-limits.ts';
import { isPlainObject, utf8Length } from '../../core/base/json.ts';
import type { MediaPart } from '../../core/base/message.ts';
import { usageErrorOf, type UsageProblem } from '../../core/base/usage-error.ts';
import { expected, fieldProblems, type Kind, type FieldRules } from '../checks/fields.ts';
import { STRING, SWITCH } from '../checks/kinds.ts';

/** Marks what {@link toolResult} made, in this or another copy of the package. */
const toolReturnMark = Symbol.for('everloop.toolResult');

/** A list of media parts. */
export const MEDIA_LIST: Kind = {
  wanted: "to be a list of { type: 'media', mediaType, url or data }",
  fits: isMediaList,
};

const FIELDS: FieldRules = {
  importance: {
    wanted: 'from -10 to 10',
    fits: (value) => Number(value) >= -10 && Number(value) <= 10,
    code: 'importance',
  },
  instructions: { ...STRING, code: 'instructions' },
  final: { ...SWITCH, code: 'tool_final' },
  media: [{ ...MEDIA_LIST, code: 'media' }, mediaSizeProblems],
};

/** A tool's output and what belongs to it; made by {@link toolResult}. */
export interface ToolReturn {
  /** Plain JSON data, or nothing. */
  readonly output?: unknown;
  /** What the model reads in place of `output`, which pages, events and programs get. Default: it. */
  readonly forModel?: unknown;
  /** True: `output` is the answer of the run, see `final` of `defineTool`, whose default this is. */
  readonly final?: boolean;
  /** Images, sounds or documents that the model sees with its next request. */
  readonly media?: readonly MediaPart[];
  /** What the model should do with the result. Default: none. */
  readonly instructions?: string;
  /** -10 to 10; compaction never drops entries of 10. */
  readonly importance?: number;
}

/**
 * Returns a tool's output together with what only the model reads, media, instructions or an importance;
 * or as the answer of the run.
 *
 * @throws UsageError for media, instructions or an importance that do not fit. The model gets it as
 * the tool's error.
 * @example
 * return toolResult({ output: { id: 7 }, instructions: 'Tell the customer the id.' });
 */
export function toolResult(parts: ToolReturn): ToolReturn {
  const [problem] = fieldProblems(parts, FIELDS, { code: 'number' });
  if (problem !== undefined) throw usageErrorOf([problem]);
  return Object.defineProperty({ ...parts }, toolReturnMark, { value: true });
}

/** Whether a tool returned what {@link toolResult} made. */
export function isToolReturn(value: unknown): value is ToolReturn {
  return typeof value === 'object' && value !== null && toolReturnMark in value;
}

function mediaSizeProblems(media: unknown): readonly UsageProblem[] {
  // The worker knows how much this run may hold.
  return isMediaList(media) ? mediaSizeProblemsOf(media, BLOB_SIZES.media) : [];
}

/** Why `media` is too large for a run that may hold `maxBytes` of base64 in one result. */
export function mediaSizeProblemsOf(
  media: readonly MediaPart[],
  maxBytes: number,
): readonly UsageProblem[] {
  const bytes = media.reduce((sum, part) => sum + utf8Length(part.data ?? ''), 0);
  if (bytes <= maxBytes) return [];
  const what = `\`media\` of at most ${maxBytes} bytes of base64`;
  return [expected('media_size', what, String(bytes), 'Return a url, or a smaller picture.')];
}

function isMediaList(media: unknown): media is readonly MediaPart[] {
  return Array.isArray(media) && media.every(isMediaPart);
}

/** Whether `value` is a media part: a media type, and exactly one of `url` and `data`. */
export function isMediaPart(value: unknown): value is MediaPart {
  if (!isPlainObject(value) || value['type'] !== 'media') return false;
  const { mediaType, url, data } = value;
  if (typeof mediaType !== 'string' || mediaType === '') return false;
  return url === undefined
    ? typeof data === 'string' && data !== ''
    : typeof url === 'string' && url !== '' && data === undefined;
}
