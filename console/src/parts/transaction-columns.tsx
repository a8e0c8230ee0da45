import type { Schemas } from '../../../clients/typescript/src/index.ts'
import { formatGwei } from '../format/amounts.ts'
import { shorten } from '../format/shorten.ts'
import { hrefOfTransaction } from '../routing/routes.ts'
import { Age } from './age.tsx'
import { Copyable } from './copyable.tsx'
import { Status } from './status.tsx'
import type { Column } from './table.tsx'

type Transaction = Schemas['Transaction']

function Link({ relayer_id, id }: Transaction) {
  return (
    <a href={hrefOfTransaction(relayer_id, id)}>
      <code title={id}>{shorten(id)}</code>
    </a>
  )
}

const FACTS: readonly Column<Transaction>[] = [
  {
    name: 'Status',
    cell: ({ status, awaits_approval }) => (
      <>
        <Status value={status} />
        {awaits_approval && <div class="why">waits for an approval</div>}
      </>
    ),
  },
  { name: 'Accepted', isNumber: true, cell: ({ created_at }) => <Age of={created_at} /> },
  { name: 'Number', isNumber: true, isExtra: true, cell: numberOf },
  { name: 'Fee', isNumber: true, isExtra: true, cell: feeOf },
  {
    name: 'Hash',
    isExtra: true,
    cell: ({ hash }) => (hash === undefined ? '–' : <Copyable text={hash} name="hash" />),
  },
]

/** The columns of a list of transactions of one relayer. */
export const TRANSACTION_COLUMNS: readonly Column<Transaction>[] = [
  { name: 'Transaction', cell: Link },
  ...FACTS,
]

/** The columns of a list of transactions of several relayers. */
export const COLUMNS_WITH_RELAYER: readonly Column<Transaction>[] = [
  {
    name: 'Transaction',
    cell: (transaction) => (
      <>
        <Link {...transaction} />
        <div class="why">{transaction.relayer_id}</div>
      </>
    ),
  },
  ...FACTS,
]

function numberOf(transaction: Transaction): string {
  if (transaction.network_type === 'evm') return transaction.nonce?.toString() ?? '–'
  if (transaction.network_type === 'stellar') return transaction.sequence_number ?? '–'
  return '–'
}

function feeOf(transaction: Transaction): string {
  if (transaction.network_type !== 'evm') return transaction.fee?.toString() ?? '–'
  const price = transaction.max_fee_per_gas ?? transaction.gas_price
  return price === undefined ? '–' : formatGwei(BigInt(price))
}
