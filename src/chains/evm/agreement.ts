import { HIGHER_OF_TWO, type Rule, SECOND_HIGHEST } from '../rpc/agreement.ts'

/** The rule by which the endpoints of a network agree on one value that they answer. */
interface Agreement {
  /** Its name in the documentation. */
  readonly value: string
  /** The calls that answer it. */
  readonly call: string
  readonly rule: Rule
  /** The most that an endpoint can do that is the only one to answer. */
  readonly alone: string
}

/**
 * The values that EVM endpoints answer and that can cost money, hold up an account or refuse a request. Every
 * endpoint is asked, and those at the head count. docs/rpc-endpoints.md shows this table.
 */
export const AGREEMENTS = {
  gasPrice: {
    value: 'gas price',
    call: '`eth_gasPrice`',
    rule: SECOND_HIGHEST,
    alone: 'the price, up to the fee cap',
  },
  baseFee: {
    value: 'base fee',
    call: '`eth_feeHistory`',
    rule: SECOND_HIGHEST,
    alone: 'the price, up to the fee cap',
  },
  tip: {
    value: 'tip of each speed',
    call: '`eth_feeHistory`, `eth_maxPriorityFeePerGas`',
    rule: SECOND_HIGHEST,
    alone: 'the price, up to the fee cap',
  },
  raise: {
    value: 'the same prices, for a raise',
    call: 'the same',
    rule: HIGHER_OF_TWO,
    alone: 'a raise, within `fee_limit_multiplier`',
  },
  blockGasLimit: {
    value: 'block gas limit',
    call: '`eth_getBlockByNumber`',
    rule: HIGHER_OF_TWO,
    alone: 'a refusal, once it has lasted',
  },
  gasUsed: {
    value: 'gas used by the newest block',
    call: '`eth_getBlockByNumber`',
    rule: SECOND_HIGHEST,
    alone: 'a raise, within `fee_limit_multiplier`',
  },
  gasEstimate: {
    value: 'gas of a call',
    call: '`eth_estimateGas`',
    rule: HIGHER_OF_TWO,
    alone: 'the gas limit, up to that of a block and the fee cap',
  },
  l1Fee: {
    value: 'L1 fee',
    call: '`GasPriceOracle.getL1Fee`',
    rule: SECOND_HIGHEST,
    alone: 'the reserved amount',
  },
  operatorFee: {
    value: 'operator fee',
    call: '`GasPriceOracle.getOperatorFee`',
    rule: SECOND_HIGHEST,
    alone: 'the reserved amount',
  },
  lineaTip: {
    value: 'price of a call on Linea',
    call: '`linea_estimateGas`',
    rule: SECOND_HIGHEST,
    alone: 'the price, up to the fee cap',
  },
  nonce: {
    value: 'nonce of an account',
    call: '`eth_getTransactionCount`',
    rule: SECOND_HIGHEST,
    alone: 'a stop of the relayer, until an operator accepts its nonces',
  },
  balance: {
    value: 'balance',
    call: '`eth_getBalance`',
    rule: HIGHER_OF_TWO,
    alone: 'a wait for funds',
  },
} as const satisfies Readonly<Record<string, Agreement>>
