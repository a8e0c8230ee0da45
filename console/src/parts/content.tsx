import type { ComponentChildren } from 'preact'
import type { Schemas } from '../../../clients/typescript/src/index.ts'
import type { Currency } from '../format/amounts.ts'
import { type Action, actionsOf, canceledContent, describeCall, type Money } from '../format/content.ts'
import { Amount } from './amount.tsx'
import { Copyable } from './copyable.tsx'

type Transaction = Schemas['Transaction']

interface ContentProps {
  readonly transaction: Transaction
  /** The native currency of its network. */
  readonly currency: Currency
}

/** Says in a table whom a transaction pays and how much: its first action, and how many follow. */
export function ContentSummary({ transaction, currency }: ContentProps) {
  const canceled = canceledContent(transaction)
  if (canceled !== undefined)
    return (
      <>
        <div class="why">does nothing, in the place of</div>
        <ContentSummary transaction={canceled} currency={currency} />
      </>
    )
  const [first, ...others] = actionsOf(transaction, currency)
  if (first === undefined) return <span class="muted">{unreadOf(transaction)}</span>
  return (
    <div class="content-summary">
      <ActionLine action={first} transaction={transaction} />
      {others.length > 0 && <div class="why">and {others.length} more</div>}
    </div>
  )
}

/** The same for a decision: every action, with every digit and whole addresses. */
export function ContentDetails({ transaction, currency }: ContentProps) {
  const actions = actionsOf(transaction, currency)
  if (actions.length === 0) return <p class="payment">{unreadOf(transaction)}</p>
  return (
    <div class="payment">
      {actions.map((action, index) => (
        // Nothing tells two equal actions apart but their position.
        <ActionLine key={index} action={action} transaction={transaction} isWhole />
      ))}
    </div>
  )
}

/** A prebuilt transaction has no fields that could be shown. */
function unreadOf({ network_type }: Transaction): string {
  return network_type === 'evm' ? 'nothing' : 'a prebuilt transaction'
}

interface ActionLineProps {
  readonly action: Action
  readonly transaction: Transaction
  readonly isWhole?: boolean
}

function ActionLine({ action, transaction, isWhole = false }: ActionLineProps) {
  const { verb, money, to, from, text } = action
  const payer = from && <Copyable text={from} name="payer" whole={isWhole} />
  const address = to && <Copyable text={to} name="receiver" whole={isWhole} />
  const amount = money && <MoneyAmount money={money} transaction={transaction} isExact={isWhole} />
  switch (verb) {
    case 'pays':
      return line(
        <strong>{amount}</strong>,
        <>
          {address && <>to {address}</>} {payer && <>from {payer}</>}
        </>,
        text,
      )
    case 'lets take':
      return line(<strong>{amount}</strong>, <>may be taken by {address}</>, text)
    case 'calls':
      return line(
        <>
          <code class="call">{callOf(transaction, { isWhole }) ?? text ?? 'a call'}</code>
          {amount && <strong> with {amount}</strong>}
        </>,
        <>of {address}</>,
      )
    case 'other':
      return line(text, address)
    default:
      return line(
        <>
          {verb} {amount && <strong>with {amount}</strong>}
        </>,
      )
  }
}

function line(head: ComponentChildren, to?: ComponentChildren, more?: string) {
  return (
    <div>
      <div>
        {head} {more && <span class="muted">{more}</span>}
      </div>
      {to && <div class="to">{to}</div>}
    </div>
  )
}

/** The function of a call on an EVM network; its arguments take too much of a table. */
function callOf(transaction: Transaction, { isWhole }: { readonly isWhole: boolean }): string | undefined {
  if (transaction.network_type !== 'evm' || transaction.data === undefined) return undefined
  const { data, decoded_call: call } = transaction
  if (isWhole || call === undefined) return describeCall(data, call)
  return `${call.function.slice(0, call.function.indexOf('('))}(…)`
}

interface MoneyAmountProps {
  readonly money: Money
  readonly transaction: Transaction
  readonly isExact: boolean
}

/** An amount of a token has the decimals of its contract, which the console does not know: it shows units, and the token by its address. */
function MoneyAmount({ money: { units, currency, token }, transaction, isExact }: MoneyAmountProps) {
  const named = transaction.network_type === 'evm' ? transaction.decoded_call?.contract_name : undefined
  return (
    <>
      {currency ? (
        <Amount of={units} currency={currency} isExact={isExact} />
      ) : (
        <span class="amount">{units.toLocaleString('en')} units</span>
      )}
      {token && (
        <>
          {' '}
          of {named ? `${named} ` : 'token '}
          <Copyable text={token} name="token" whole={isExact} />
        </>
      )}
    </>
  )
}
