import type { Schemas, Transaction } from '../../../../clients/typescript/src/index.ts'
import { formatGwei } from '../../format/amounts.ts'

interface FeeChartProps {
  readonly transaction: Transaction
  /** The prices of the market, when they are known. */
  readonly fees: Schemas['Diagnosis']['fees']
}

interface Bar {
  readonly name: string
  readonly price: bigint
  readonly isMarket?: boolean
  /** A cap can be many times what is paid, so it fills the row and does not shrink the others. */
  readonly isCap?: boolean
}

/** Draws what each attempt offers for a unit of gas beside what the market asks. */
export function FeeChart({ transaction, fees }: FeeChartProps) {
  const bars = [...attemptBars(transaction), ...marketBars(fees)]
  const most = highestOf(bars.filter(({ isCap }) => !isCap))
  return (
    <ul class="fees" aria-label="Gas price">
      {bars.map(({ name, price, isMarket }) => (
        <li key={name}>
          <span>{name}</span>
          <svg height="10" aria-hidden="true">
            <rect
              class={isMarket ? 'market' : 'own'}
              width={`${Math.min(Math.max(Number((price * 1000n) / most) / 10, LEAST_WIDTH), 100)}%`}
              height="10"
              rx="3"
            />
          </svg>
          <span class="number">{formatGwei(price)}</span>
        </li>
      ))}
    </ul>
  )
}

/** A price that is small beside the others still has a bar, in percent. */
const LEAST_WIDTH = 0.5

/** 1 at least, because it divides. */
function highestOf(bars: readonly Bar[]): bigint {
  let highest = 1n
  for (const { price } of bars) if (price > highest) highest = price
  return highest
}

function attemptBars(transaction: Transaction): Bar[] {
  if (transaction.network_type !== 'evm') return []
  return (transaction.attempts ?? []).map(({ number, kind, max_fee_per_gas, gas_price }) => ({
    name: `#${number} ${kind.replaceAll('_', ' ')}`,
    price: BigInt(max_fee_per_gas ?? gas_price ?? 0),
  }))
}

const CAP = 'cap of the relayer'

function marketBars(fees: Schemas['Diagnosis']['fees']): Bar[] {
  const named = { 'market price': fees?.market, 'base fee': fees?.base_fee, [CAP]: fees?.cap }
  return Object.entries(named).flatMap(([name, price]) =>
    price === undefined ? [] : [{ name, price: BigInt(price), isMarket: true, isCap: name === CAP }],
  )
}
