/** The open item of the inbox. The list has long ones cut, and nobody approves what is not shown. */
import type { JSX } from 'preact';
import type { RunHeaderAnswer } from '../../api.ts';
import { runPath } from '../base/api.ts';
import { useResource } from '../base/resource.ts';
import { Failure, Skeleton } from '../parts/marks.tsx';
import { AnswerCard, type AnswerCardProps } from './answer-card.tsx';

/** The card of an item, once all of it is known. */
export function WholeItem(props: AnswerCardProps): JSX.Element {
  const { row } = props;
  const { data, error, load } = useResource<RunHeaderAnswer>(
    row.isCut === true ? runPath(row.run) : null,
  );
  if (row.isCut !== true) return <AnswerCard {...props} />;
  const item = data.value?.run.pending.find(({ id }) => id === row.item.id);
  if (item !== undefined) return <AnswerCard {...props} row={{ ...row, item }} />;
  if (data.value === null) {
    return (
      <>
        <Failure error={error.value} again={() => void load()} />
        {error.value === null ? <Skeleton /> : null}
      </>
    );
  }
  return (
    <p class="notice" role="status">
      No worker shows this item whole, or it was answered elsewhere. Open the run to see it.
    </p>
  );
}
