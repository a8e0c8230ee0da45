import { payment } from '../../../test/support/stellar-scenario.ts'
import { type PlannedRequest, replace, send } from '../call.ts'
import type { HistoryRun } from '../history-run.ts'
import { CUSTOMERS, type Environment } from './environment.ts'
import type { Budget, Event } from './event.ts'
import { signPayment } from './signed.ts'

/** `max_fee` of each budget, in stroops. The base fee is 100, and room for a fee bump counts as one more operation. */
const BUDGETS: Readonly<Record<Budget, object>> = {
  none: {},
  high: { max_fee: 100_000_000 },
  middle: { max_fee: 5_000_000 },
  tight: { max_fee: 250 },
  low: { max_fee: 150 },
}

/** A new payment. */
export function sendPayment(
  environment: Environment,
  run: HistoryRun,
  { account, budget, validForMs }: Extract<Event, { is: 'send' }>,
): Promise<void> {
  return send(run, account, { ...plannedRequest(environment, budget), validForMs })
}

/** Another payment in place of one. */
export function replacePayment(
  environment: Environment,
  run: HistoryRun,
  { target, budget }: Extract<Event, { is: 'replace' }>,
): Promise<void> {
  return replace(run, target, () => plannedRequest(environment, budget))
}

/** A payment that a customer has signed, paid by the relayer. What the customer signs next may take its sequence number. */
export function bumpPayment(
  environment: Environment,
  run: HistoryRun,
  { account, ...signing }: Extract<Event, { is: 'bump' }>,
): Promise<void> {
  return send(run, account, signedRequest(environment, signing))
}

/** A payment that a customer has signed, in place of one. */
export function replaceBySigned(
  environment: Environment,
  run: HistoryRun,
  { target, ...signing }: Extract<Event, { is: 'replace_signed' }>,
): Promise<void> {
  return replace(run, target, () => signedRequest(environment, signing))
}

function signedRequest(
  { ledger, newContent }: Environment,
  { customer, seconds }: { readonly customer: number; readonly seconds: number },
): PlannedRequest {
  const [first] = CUSTOMERS
  const keypair = CUSTOMERS[customer] ?? first
  if (keypair === undefined) throw new Error('there are no customers')
  const content = newContent()
  const signed = signPayment(ledger, { keypair, amount: content.amount, seconds, fee: 100 })
  const body = { network: 'standalone', transaction_xdr: signed.toXDR(), fee_bump: true }
  return { content, body, may: { mayRevert: true, mayExpire: true, mayFail: true } }
}

/** A call of a contract that was made just now, so that nodes which are behind do not know it. Nothing but trouble can make it fail. */
export function callContract(
  { ledger, newContent }: Environment,
  run: HistoryRun,
  { account }: Extract<Event, { is: 'call' }>,
): Promise<void> {
  const content = newContent()
  const contract_address = ledger.contract({ mark: (_env, value) => value })
  const operation = {
    type: 'invoke_contract',
    contract_address,
    function_name: 'mark',
    args: [{ i128: String(content.amount) }],
  }
  return send(run, account, {
    content,
    body: { network: 'standalone', operations: [operation], ...BUDGETS.high },
  })
}

function plannedRequest({ newContent }: Environment, budget: Budget): PlannedRequest {
  const content = newContent()
  return {
    content,
    body: payment(content.amount, BUDGETS[budget]),
    // Money can go before it is included. Too low a budget is taken as long as no node tells the fees, and found later.
    may: { mayRevert: true, mayFail: budget === 'low' },
  }
}
