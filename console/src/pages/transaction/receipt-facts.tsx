import type { Schemas, Transaction } from '../../../../clients/typescript/src/index.ts'
import { type Currency, formatExact, GWEI_DECIMALS } from '../../format/amounts.ts'
import { explorerLink } from '../../format/explorer.ts'
import { Age } from '../../parts/age.tsx'
import { Amount } from '../../parts/amount.tsx'
import { Facts } from '../../parts/facts.tsx'

interface ReceiptFactsProps {
  readonly transaction: Transaction
  /** Undefined when the key may not read networks. */
  readonly network: Schemas['Network'] | undefined
  readonly currency: Currency
}

/** The block that includes a transaction, and the price of it; nothing while no block does. */
export function ReceiptFacts({ transaction, network, currency }: ReceiptFactsProps) {
  const receipt = receiptOf(transaction)
  if (receipt === undefined) return null
  const { block, time, used, price, fee, parts = {} } = receipt
  const link = explorerLink(network, { kind: 'block', id: block })
  const amounts = Object.entries(parts).map(([name, amount]) => [
    name,
    amount && <Amount of={amount} currency={currency} isExact />,
  ])
  return (
    <Facts
      facts={{
        [receipt.name]: (
          <>
            {block}{' '}
            {link && (
              <a href={link} target="_blank" rel="noreferrer noopener">
                Explorer ↗
              </a>
            )}
          </>
        ),
        Time: time && <Age of={time} />,
        Fee: <Amount of={fee} currency={currency} isExact />,
        ...Object.fromEntries(amounts),
        [receipt.unit]: used?.toString(),
        'Price paid': price && `${formatExact(BigInt(price), GWEI_DECIMALS)} gwei`,
      }}
    />
  )
}

interface Receipt {
  /** The word of the network for a block. */
  readonly name: 'Block' | 'Ledger' | 'Slot'
  readonly block: string
  readonly time: string | undefined
  readonly fee: string | undefined
  /** The parts of the fee that a rollup tells apart, by their names. */
  readonly parts?: Readonly<Record<string, string | undefined>>
  /** The word of the network for what a transaction uses. */
  readonly unit: string
  readonly used?: bigint | undefined
  readonly price?: string | undefined
}

function receiptOf(transaction: Transaction): Receipt | undefined {
  if (transaction.receipt === undefined) return undefined
  switch (transaction.network_type) {
    case 'evm': {
      const { block_number, block_time, fee, l1_fee, operator_fee, gas_used, effective_gas_price } =
        transaction.receipt
      const parts = { 'of it to the parent chain': l1_fee, 'of it to the operator': operator_fee }
      const paid = { fee, parts, unit: 'Gas used', used: gas_used, price: effective_gas_price }
      return { name: 'Block', block: String(block_number), time: block_time, ...paid }
    }
    case 'stellar': {
      const { ledger, ledger_time, fee_charged } = transaction.receipt
      return {
        name: 'Ledger',
        block: String(ledger),
        time: ledger_time,
        fee: fee_charged?.toString(),
        unit: '',
      }
    }
    case 'solana': {
      const { slot, block_time, fee, compute_units } = transaction.receipt
      const unit = { unit: 'Compute units', used: compute_units }
      return { name: 'Slot', block: String(slot), time: block_time, fee: fee?.toString(), ...unit }
    }
  }
}
