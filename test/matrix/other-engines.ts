/** What other engines' own documentation states about crashes, as Markdown for the page. */
export const OTHER_ENGINES = `## What other engines state

From their own documentation, in our words. None of it was measured here, and none of it is better or
worse by itself: every engine repeats work whose result it did not get, so each asks for writes that may be
repeated. Everloop asks for the same with its class \`idempotent\`; its class \`once\` is for the rest.

| Engine | Page | What it states |
| --- | --- | --- |
| Temporal | [Activity Definition](https://docs.temporal.io/activity-definition) | An activity with retries is seen to complete exactly once, but may run several times. If a worker crashes after the function returned and before the service knows, the activity runs again. Activities should be idempotent |
| LangGraph | [Durable execution](https://docs.langchain.com/oss/python/langgraph/durable-execution), [Durability](https://reference.langchain.com/python/langgraph/types/Durability) | With a checkpointer, a run resumes from its last recorded state. Workflows should be deterministic and idempotent, with side effects inside tasks. State is saved before the next step starts (\`sync\`), while it runs (\`async\`), or only when the graph exits (\`exit\`) |
| DBOS | [Steps](https://docs.dbos.dev/rust/tutorials/step-tutorial), [Concurrent executions](https://docs.dbos.dev/explanations/concurrent-executions) | A workflow resumes from its last completed step. A step runs at least once: after a crash between its effect and its checkpoint it runs again. The outcome of a workflow is stored exactly once |
| Restate | [Journaling results](https://docs.restate.dev/develop/ts/journaling-results/) | The result of a journaled action is replayed instead of running the action again |
| Inngest | [step.run](https://www.inngest.com/docs/durable-execution/primitives/step-run) | The result of a completed step is kept and not computed again. A step has one attempt and up to four retries by default. A failed attempt may have changed another system |
| AWS Step Functions | [Execution guarantees](https://docs.aws.amazon.com/step-functions/latest/dg/express-at-least-once-execution.html) | Standard workflows run exactly once; asynchronous express workflows at least once; synchronous ones at most once |

Everloop runs on Temporal and has its guarantees. What it adds is that a lost worker is no attempt of a
model or tool, that a \`once\` call is never repeated blindly, and that statistics and limits of a run stay
exact.
`;
