import { LOWER_MEDIAN, type Rule, UPPER_MEDIAN } from '../agreement.ts'

/** How the endpoints of a network agree on one value that they answer. */
interface Agreement {
  /** Its name in the documentation. */
  readonly value: string
  /** The calls that answer it. */
  readonly call: string
  readonly rule: Rule
  /** What an endpoint can do that is the only one to answer. */
  readonly alone: string
}

/**
 * The values that EVM endpoints answer and that can cost money, hold up an account or refuse a request. Every endpoint is asked, and those at
 * the head count. docs/rpc-endpoints.md shows this table.
 */
export const AGREEMENTS = {
  gasPrice: {
    value: 'gas price',
    call: '`eth_gasPrice`',
    rule: LOWER_MEDIAN,
    alone: 'the price, up to the fee cap',
  },
  baseFee: {
    value: 'base fee',
    call: '`eth_feeHistory`',
    rule: LOWER_MEDIAN,
    alone: 'the price, up to the fee cap',
  },
  tip: {
    value: 'tip of each speed',
    call: '`eth_feeHistory`, `eth_maxPriorityFeePerGas`',
    rule: LOWER_MEDIAN,
    alone: 'the price, up to the fee cap',
  },
  raise: {
    value: 'the same prices, for a raise',
    call: 'the same',
    rule: UPPER_MEDIAN,
    alone: 'a raise, within `fee_limit_multiplier`',
  },
  blockGasLimit: {
    value: 'block gas limit',
    call: '`eth_getBlockByNumber`',
    rule: UPPER_MEDIAN,
    alone: 'a refusal, once it has lasted',
  },
  gasUsed: {
    value: 'gas used by the newest block',
    call: '`eth_getBlockByNumber`',
    rule: LOWER_MEDIAN,
    alone: 'a raise, within `fee_limit_multiplier`',
  },
  gasEstimate: {
    value: 'gas of a call',
    call: '`eth_estimateGas`',
    rule: UPPER_MEDIAN,
    alone: 'the gas limit, up to that of a block and the fee cap',
  },
  l1Fee: {
    value: 'L1 fee',
    call: '`GasPriceOracle.getL1Fee`',
    rule: LOWER_MEDIAN,
    alone: 'the reserved amount',
  },
  operatorFee: {
    value: 'operator fee',
    call: '`GasPriceOracle.getOperatorFee`',
    rule: LOWER_MEDIAN,
    alone: 'the reserved amount',
  },
  lineaTip: {
    value: 'price of a call on Linea',
    call: '`linea_estimateGas`',
    rule: LOWER_MEDIAN,
    alone: 'the price, up to the fee cap',
  },
  nonce: {
    value: 'nonce of an account',
    call: '`eth_getTransactionCount`',
    rule: LOWER_MEDIAN,
    alone: 'a stop of the relayer, until an operator accepts its nonces',
  },
  balance: {
    value: 'balance',
    call: '`eth_getBalance`',
    rule: UPPER_MEDIAN,
    alone: 'a wait for funds',
  },
} as const satisfies Readonly<Record<string, Agreement>>
