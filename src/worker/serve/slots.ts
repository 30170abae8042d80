/**
 * How many tasks a worker has in hand at once.
 *
 * A model call waits for its provider for most of its time, so a worker can have many of them. It
 * must not have so many that it no longer answers for them in time: what it has in hand must send
 * heartbeats, and a call whose heartbeats come late is made again. So it takes the least number in
 * any case, and more only while processor and memory of the machine or container have room.
 */
import { ResourceBasedController, type TunerHolder } from '@temporalio/worker';

/** Calls of models and tools, for each queue: see `docs/decisions/0291-slots-by-room.md`. */
const CALL_SLOTS = { least: 256, most: 1_000 } as const;

/**
 * The SDK stops a hundredth below the target of the processor and a twentieth below that of memory:
 * at 95 % and 80 %. It looks ten times a second.
 */
const ROOM = { targetCpuUsage: 0.96, targetMemoryUsage: 0.85 } as const;

const WORKFLOW_SLOTS = 100;
const LOCAL_CALL_SLOTS = 100;

/** The slots of each queue of a worker; all queues share the room of its machine. */
export function createSlots(): TunerHolder {
  return {
    workflowTaskSlotSupplier: { type: 'fixed-size', numSlots: WORKFLOW_SLOTS },
    activityTaskSlotSupplier: {
      type: 'resource-based',
      controller: ResourceBasedController.create(ROOM),
      minimumSlots: CALL_SLOTS.least,
      maximumSlots: CALL_SLOTS.most,
      // A pause after each slot beyond the least would bound how many calls begin in a second.
      rampThrottle: 0,
    },
    localActivityTaskSlotSupplier: { type: 'fixed-size', numSlots: LOCAL_CALL_SLOTS },
    // Workers serve none; the SDK wants a number.
    nexusTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
  };
}
