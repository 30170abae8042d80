/** The state of the shop: the seed with all changes applied, in order. */
import { scenarioStore, type ScenarioStore } from '../scenario.ts';
import { shopSeed, type CreditRequest, type ShopState, type SupportCase } from './data.ts';

/** What a tool may do to the shop. */
export type ShopChange =
  | { readonly type: 'refused'; readonly attempt: string }
  | { readonly type: 'case'; readonly case: SupportCase }
  | { readonly type: 'credit'; readonly credit: CreditRequest };

/** Reads the state and takes changes. */
export type ShopStore = ScenarioStore<ShopState, ShopChange>;

/** A shop in memory, fresh; or, with the path of a file, one that outlives its process. */
export function shopStore(path?: string): ShopStore {
  return scenarioStore(shopSeed(), applyChange, path);
}

function applyChange(state: ShopState, change: ShopChange): ShopState {
  switch (change.type) {
    case 'refused':
      return { ...state, refusals: [...state.refusals, change.attempt] };
    case 'case':
      return { ...state, cases: [...state.cases, change.case] };
    case 'credit':
      return { ...state, credits: [...state.credits, change.credit] };
  }
}
