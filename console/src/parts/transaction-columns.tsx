import type { Schemas } from '../../../clients/typescript/src/index.ts'
import { formatGwei } from '../format/amounts.ts'
import { shorten } from '../format/shorten.ts'
import { formatMinute, formatTime } from '../format/times.ts'
import { type CurrencyOf, useCurrencies } from '../live/use-currencies.ts'
import { hrefOfTransaction } from '../routing/routes.ts'
import { Age } from './age.tsx'
import { Amount } from './amount.tsx'
import { ContentSummary } from './content.tsx'
import { Copyable } from './copyable.tsx'
import { Status } from './status.tsx'
import type { Column } from './table.tsx'

type Transaction = Schemas['Transaction']

interface Options {
  /** The rows are of several relayers, so each names its own. */
  readonly namesRelayer?: boolean
}

/** The columns of a list of transactions: whom each pays and how much, before everything technical. */
export function useTransactionColumns({
  namesRelayer = false,
}: Options = {}): readonly Column<Transaction>[] {
  const currencyOf = useCurrencies()
  return [
    { name: 'Transaction', cell: (transaction) => <Link of={transaction} namesRelayer={namesRelayer} /> },
    {
      name: 'Payment',
      cell: (transaction) => <ContentSummary transaction={transaction} currency={currencyOf(transaction)} />,
    },
    {
      name: 'Status',
      cell: (transaction) => (
        <>
          <Status value={transaction.status} />
          {waitOf(transaction) && <div class="why">{waitOf(transaction)}</div>}
        </>
      ),
    },
    { name: 'Accepted', isNumber: true, cell: ({ created_at }) => <Accepted at={created_at} /> },
    { name: 'Nonce', isNumber: true, isExtra: true, cell: numberOf },
    {
      name: 'Maximum price',
      isNumber: true,
      isExtra: true,
      cell: (transaction) => priceOf(transaction, currencyOf),
    },
    {
      name: 'Hash',
      isExtra: true,
      cell: ({ hash }) => (hash === undefined ? '–' : <Copyable text={hash} name="hash" />),
    },
  ]
}

function Accepted({ at }: { readonly at: string }) {
  return (
    <>
      {formatMinute(at)}
      <div class="why">
        <Age of={at} />
      </div>
    </>
  )
}

function Link({ of: { relayer_id, id }, namesRelayer }: { readonly of: Transaction } & Required<Options>) {
  return (
    <>
      <a class="id" href={hrefOfTransaction(relayer_id, id)}>
        <code title={id}>{shorten(id)}</code>
      </a>
      {namesRelayer && <div class="why">{relayer_id}</div>}
    </>
  )
}

/** Says what a pending transaction waits for, when that is not its turn. */
function waitOf({
  status,
  awaits_approval,
  awaits_transaction,
  valid_from: from,
}: Transaction): string | undefined {
  if (awaits_approval) return 'waits for an approval'
  if (awaits_transaction) return 'waits for another transaction'
  if (status !== 'pending' || from === undefined || Date.parse(from) <= Date.now()) return undefined
  return `waits until ${formatTime(from)}`
}

/** A sequence number on Stellar; transactions of Solana have none. */
function numberOf(transaction: Transaction): string {
  if (transaction.network_type === 'evm') return transaction.nonce?.toString() ?? '–'
  if (transaction.network_type === 'stellar') return transaction.sequence_number ?? '–'
  return '–'
}

/** The highest price of a unit of gas on EVM; elsewhere the highest fee of the whole transaction. */
function priceOf(transaction: Transaction, currencyOf: CurrencyOf) {
  if (transaction.network_type !== 'evm')
    return <Amount of={transaction.fee?.toString()} currency={currencyOf(transaction)} />
  const price = transaction.max_fee_per_gas ?? transaction.gas_price
  return price === undefined ? '–' : formatGwei(BigInt(price))
}
