import type { AgreementTable } from '../../rpc/agreement.ts'

/** The answers of Solana's endpoints that count, and what one endpoint alone may do with each. */
export const SOLANA_AGREEMENT: AgreementTable = {
  head: {
    told: ['getEpochInfo'],
    asked: 'all',
    agreed:
      'the second highest slot of three; of two the higher one. 16 slots behind it is still at the head',
    alone: 'of two endpoints, be the only one that counts, within the limits of the other rows',
  },
  price: {
    told: ['getRecentPrioritizationFees'],
    asked: 'all',
    agreed: 'the second highest price; of two the lower one',
    alone: 'a fee up to max_allowed_fee_lamports, 1,000,000 lamports if absent',
  },
  blockhash: {
    told: ['getLatestBlockhash', 'isBlockhashValid'],
    asked: 'all',
    agreed: 'the one that most endpoints call valid; two that deny each other take turns',
    alone: 'a version that no block can include, until it has expired',
  },
  'end of a blockhash': {
    told: ['getLatestBlockhash'],
    asked: 'all',
    agreed: 'the latest that is near the second latest; of two the later one',
    alone: 'a later end, so that what was not included waits longer',
  },
  expiry: {
    told: ['getEpochInfo', 'getSlot'],
    asked: 'one, then all',
    agreed: 'the second highest finalized height; of two the lower one',
    alone: 'nothing is signed again',
  },
  'expiry of a durable nonce': {
    told: ['getMultipleAccounts'],
    asked: 'all',
    agreed: 'what most endpoints say that have finalized the slot of the draft; of two both',
    alone: 'of two endpoints, nothing is signed again',
  },
  units: {
    told: ['simulateTransaction'],
    asked: 'all',
    agreed: 'the highest that is at most twice the second highest; of two the higher one',
    alone: 'a unit limit up to 1,400,000, within max_allowed_fee_lamports',
  },
  refusal: {
    told: ['simulateTransaction'],
    asked: 'all',
    agreed: 'what most endpoints say; of two a success',
    alone: 'a refusal that lasts for 150 slots while all others are silent',
  },
  loss: {
    told: ['simulateTransaction', 'getMultipleAccounts'],
    asked: 'all',
    agreed: 'one that sees it forbids the signature, until two have reached its slot and see none',
    alone: 'of two endpoints, refuse what others want the relayer to pay for',
  },
  accounts: {
    told: ['getMultipleAccounts'],
    asked: 'all',
    agreed: 'the content that most endpoints tell; of two that differ the newer one',
    alone: 'of two endpoints, nonces, tables and prices of oracles that are wrong',
  },
  balance: {
    told: ['getBalance', 'getMultipleAccounts'],
    asked: 'one, then all',
    agreed: 'the second highest amount; of two the higher one',
    alone: 'a balance that is a tenth too high or too low',
  },
  'minimum balance': {
    told: ['getMinimumBalanceForRentExemption'],
    asked: 'all',
    agreed: 'the second highest amount; of two the lower one',
    alone: 'hold back part of the balance',
  },
}
