import { type AgreementTable, HIGHER_OF_TWO, SECOND_HIGHEST } from '../rpc/agreement.ts'

/** The answers of EVM endpoints that count, and what one endpoint alone may do with each. */
export const EVM_AGREEMENT = {
  'gas price': {
    told: ['eth_gasPrice'],
    asked: 'all',
    agreed: SECOND_HIGHEST,
    alone: 'the price, up to the fee cap',
  },
  'base fee': {
    told: ['eth_feeHistory'],
    asked: 'all',
    agreed: SECOND_HIGHEST,
    alone: 'the price, up to the fee cap',
  },
  'tip of each speed': {
    told: ['eth_feeHistory', 'eth_maxPriorityFeePerGas'],
    asked: 'all',
    agreed: SECOND_HIGHEST,
    alone: 'the price, up to the fee cap',
  },
  'prices, for a raise': {
    told: ['eth_gasPrice', 'eth_feeHistory', 'eth_maxPriorityFeePerGas'],
    asked: 'all',
    agreed: HIGHER_OF_TWO,
    alone: 'a raise, within `fee_limit_multiplier`',
  },
  'block gas limit': {
    told: ['eth_getBlockByNumber'],
    asked: 'all',
    agreed: HIGHER_OF_TWO,
    alone: 'a refusal, once it has lasted',
  },
  'gas used by the newest block': {
    told: ['eth_getBlockByNumber'],
    asked: 'all',
    agreed: SECOND_HIGHEST,
    alone: 'a raise, within `fee_limit_multiplier`',
  },
  'gas of a call': {
    told: ['eth_estimateGas'],
    asked: 'all',
    agreed: HIGHER_OF_TWO,
    alone: 'the gas limit, up to that of a block and the fee cap',
  },
  'L1 fee': {
    told: ['GasPriceOracle.getL1Fee'],
    asked: 'all',
    agreed: SECOND_HIGHEST,
    alone: 'the reserved amount',
  },
  'operator fee': {
    told: ['GasPriceOracle.getOperatorFee'],
    asked: 'all',
    agreed: SECOND_HIGHEST,
    alone: 'the reserved amount',
  },
  'price of a call on Linea': {
    told: ['linea_estimateGas'],
    asked: 'all',
    agreed: SECOND_HIGHEST,
    alone: 'the price, up to the fee cap',
  },
  'nonce of an account': {
    told: ['eth_getTransactionCount'],
    asked: 'one, then all',
    agreed: SECOND_HIGHEST,
    alone: 'a stop of the relayer, until an operator accepts its nonces',
  },
  balance: {
    told: ['eth_getBalance', 'eth_call'],
    asked: 'one, then all',
    agreed: HIGHER_OF_TWO,
    alone: 'a wait for funds',
  },
} as const satisfies AgreementTable
