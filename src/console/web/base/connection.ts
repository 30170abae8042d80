/** Whether the console answers, and what this tab may do. */
import { computed, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import type { MetaAnswer } from '../../api.ts';

/** True from a request that got no answer until one gets one. */
export const isOffline: Signal<boolean> = signal(false);

/** What the console is; null: it has not answered yet. */
export const meta: Signal<MetaAnswer | null> = signal(null);

/** Whether actions are shown: the token may act. */
export const mayAct: ReadonlySignal<boolean> = computed(() => meta.value?.role !== 'read');

/** Whether actions can be sent now. */
export const canAct: ReadonlySignal<boolean> = computed(() => mayAct.value && !isOffline.value);
