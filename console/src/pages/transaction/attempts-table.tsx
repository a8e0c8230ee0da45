import type { Schemas, Transaction } from '../../../../clients/typescript/src/index.ts'
import { type Currency, formatGwei } from '../../format/amounts.ts'
import { explorerLink } from '../../format/explorer.ts'
import type { Networks } from '../../live/use-networks.ts'
import { Age } from '../../parts/age.tsx'
import { ContentSummary } from '../../parts/content.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { Status } from '../../parts/status.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import type { Tone } from '../../parts/tone.ts'
import type { EvmTransaction } from './replacement.ts'

type Attempt = NonNullable<Transaction['attempts']>[number]
type EvmAttempt = Schemas['EvmAttempt']

const TONES: Readonly<Record<Attempt['outcome'], Tone>> = {
  signed: 'busy',
  broadcast: 'busy',
  refused: 'bad',
  mined: 'good',
  reverted: 'bad',
  superseded: 'idle',
  expired: 'idle',
}

interface AttemptsTableProps {
  readonly transaction: Transaction
  readonly network: ReturnType<Networks['find']>
  readonly currency: Currency
}

/** Every signed version of a transaction. */
export function AttemptsTable({ transaction, network, currency }: AttemptsTableProps) {
  const columns: readonly Column<Attempt>[] = [
    { name: '#', cell: ({ number, kind }) => `${number} ${kind.replaceAll('_', ' ')}` },
    { name: 'Outcome', cell: ({ outcome }) => <Status value={outcome} tone={TONES[outcome]} /> },
    ...(transaction.network_type === 'evm' ? [contentColumn(transaction, currency)] : []),
    {
      name: transaction.network_type === 'evm' ? 'Maximum price' : 'Maximum fee',
      isNumber: true,
      cell: feeOf,
    },
    {
      name: 'Hash',
      isExtra: true,
      cell: ({ hash }) => (
        <Hash hash={hash} link={explorerLink(network, { kind: 'transaction', id: hash })} />
      ),
    },
    { name: 'Signed', isNumber: true, isExtra: true, cell: ({ signed_at }) => <Age of={signed_at} /> },
  ]
  return (
    <Table
      caption="Attempts"
      columns={columns}
      rows={transaction.attempts ?? []}
      keyOf={({ number }) => String(number)}
      empty="Not signed yet."
    />
  )
}

/** On EVM networks each attempt has content of its own. */
function contentColumn(transaction: EvmTransaction, currency: Currency): Column<Attempt> {
  return {
    name: 'Bid',
    cell: (attempt) =>
      'gas_limit' in attempt && (
        <ContentSummary transaction={withContentOf(transaction, attempt)} currency={currency} />
      ),
  }
}

/** The decoded call and the transfers of a transaction are about the attempt that it shows, so another one is read by its bytes alone. */
function withContentOf(transaction: EvmTransaction, { hash, to, value, data }: EvmAttempt): EvmTransaction {
  if (hash === transaction.hash) return transaction
  const { to: _to, decoded_call: _call, transfers: _transfers, ...rest } = transaction
  return { ...rest, value, data, ...(to !== undefined && { to }) }
}

function Hash({ hash, link }: { readonly hash: string; readonly link: string | undefined }) {
  return (
    <>
      <Copyable text={hash} name="hash" />
      {link && (
        <a href={link} target="_blank" rel="noreferrer noopener" aria-label={`${hash} in the explorer`}>
          {' '}
          ↗
        </a>
      )}
    </>
  )
}

function feeOf(attempt: Attempt): string {
  if ('fee' in attempt) return `${attempt.fee} ${'fee_bump' in attempt ? 'stroops' : 'lamports'}`
  return formatGwei(BigInt(attempt.max_fee_per_gas ?? attempt.gas_price ?? 0))
}
