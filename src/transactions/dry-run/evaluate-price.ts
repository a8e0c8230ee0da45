import type { Actor } from '../../access/actor.ts'
import type { Answer } from '../../chains/answer.ts'
import type { Draft } from '../../chains/attempt.ts'
import { nativeIn } from '../../chains/effects.ts'
import type { ChainRequest } from '../../chains/request.ts'
import type { AppError } from '../../errors.ts'
import { shortOfFunds } from '../../relayers/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { readBook, refusalIn } from '../../spending/book.ts'
import type { RuleResult } from '../../spending/evaluate-content.ts'
import { purchaseOf } from '../budgets/charge.ts'
import { isForLater } from '../model/due.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import { reservedBy } from '../store/work-store.ts'
import type { DryPrice, DryRun } from './dry-run.ts'

/** A request with its price, and its sender. */
export interface PricedRequest {
  readonly relayer: Relayer
  readonly actor: Actor
  readonly request: ChainRequest
  readonly draft?: Draft | undefined
  /** The most that it can take from the account. */
  readonly cost: bigint
  /** It would wait for its price: its funds are looked at when it is signed. */
  readonly awaitsPrice?: boolean
  /** The transaction that it replaces. */
  readonly replaces?: string
}

/** The part of a dry run that a price decides: the funds of the account, and the budgets. */
export interface EvaluatedPrice extends Required<Pick<DryRun, 'results'>> {
  readonly price: DryPrice
  readonly balance: bigint | undefined
  readonly reserved: bigint
  readonly shortage: AppError | undefined
}

/** Compares the price of a request with the balance and the budgets, and locks neither. */
export async function evaluatePrice(
  context: TransactionsContext,
  priced: PricedRequest,
): Promise<EvaluatedPrice> {
  const { relayer, request, draft, cost, awaitsPrice, replaces } = priced
  const { chain } = context.runtimeOf(relayer)
  const now = context.clock.now()
  const [balance, reserved, results] = await Promise.all([
    chain.balance(relayer.address),
    reservedBy(context.db, relayer.id, { now: new Date(now), except: replaces }),
    evaluateBudgets(context, priced),
  ])
  const { amounts } = chain.effects(request, relayer.address)
  const value = nativeIn(amounts)
  const known = balanceIn(balance)
  return {
    price: { draft, value, cost },
    balance: known,
    reserved,
    results,
    shortage:
      known === undefined || isForLater(request, now) || awaitsPrice === true
        ? undefined
        : shortOfFunds(relayer, { unit: chain.unit, balance: known, reserved, cost }),
  }
}

interface PricedRun extends Pick<DryRun, 'refusal' | 'unit'> {
  /** The results of the rules that need no price. */
  readonly ofContent: readonly RuleResult[]
  readonly evaluated: EvaluatedPrice
}

/** Joins what was found before a request had a price with what its price decides. */
export function pricedRun({ refusal, unit, ofContent, evaluated }: PricedRun) {
  const { shortage, price, balance, reserved, results } = evaluated
  return {
    refusal: refusal ?? shortage ?? refusalIn(results),
    unit,
    price,
    balance,
    reserved,
    results: [...ofContent, ...results],
  }
}

function balanceIn(answer: Answer<bigint>): bigint | undefined {
  return answer.kind === 'ok' ? answer.value : undefined
}

/** The id of a transaction that does not exist yet. */
const NEW = 'new'

async function evaluateBudgets(
  { db, clock, runtimeOf }: TransactionsContext,
  { relayer, actor, request, cost, replaces = NEW }: PricedRequest,
): Promise<RuleResult[]> {
  const content = { id: replaces, request, from: relayer.address, cost }
  const purchase = purchaseOf(runtimeOf(relayer), { relayer, actor }, content)
  if (purchase === undefined) return []
  const { spenders, charge } = purchase
  const now = new Date(clock.now())
  const book = await readBook(db, { spenders, network: charge.network, now, transactionIds: [replaces] })
  return book.evaluate(purchase)
}
