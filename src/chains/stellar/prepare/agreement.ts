import type { AgreementTable } from '../../rpc/agreement.ts'

/** What endpoints of Stellar tell that counts, and what one of them alone may do. */
export const STELLAR_AGREEMENT: AgreementTable = {
  head: {
    told: ['getTransaction'],
    asked: 'all',
    agreed:
      'the second highest ledger of three; of two the higher one. For prices, one ledger behind is still at the head',
    alone: 'of two endpoints, be the only one that counts, within the limits of the other rows',
  },
  'fee statistics': {
    told: ['getFeeStats'],
    asked: 'all',
    agreed: 'the second highest price of each kind; of two the lower one',
    alone: 'a fee up to max_fee, 1,000,000 stroops if absent',
  },
  'close time': {
    told: ['getTransaction'],
    asked: 'all',
    agreed: 'the second latest; of two that differ the one nearer to our clock',
    alone: 'an end that is too early or too late',
  },
  expiry: {
    told: ['getTransaction'],
    asked: 'one, then all',
    agreed: 'the second latest ledger and close time; of two the earlier ones',
    alone: 'nothing is signed again',
  },
  'sequence number and balance': {
    told: ['getLedgerEntries'],
    asked: 'all',
    agreed:
      'the entry that most endpoints have; of two that differ the newer one, then the one with the lower number, then the one with more to spend',
    alone: 'of two endpoints, hold the account until a version has expired',
  },
  'required memo, trust lines': {
    told: ['getLedgerEntries'],
    asked: 'all',
    agreed: 'what two endpoints say; of two that differ no memo is required',
    alone: 'nothing',
  },
  resources: {
    told: ['simulateTransaction'],
    asked: 'all',
    agreed: 'the simulation that most endpoints agree on; of two the one with more resources, within max_fee',
    alone: 'a fee for resources up to max_fee',
  },
  authorization: {
    told: ['simulateTransaction'],
    asked: 'all',
    agreed: 'the one of the agreed simulation',
    alone: 'of two endpoints, an authorization of the source that the call does not need',
  },
  refusal: {
    told: ['simulateTransaction'],
    asked: 'all',
    agreed: 'what most endpoints say; of two a success',
    alone: 'a refusal that lasts for 12 ledgers while all others are silent',
  },
  'base reserve': {
    told: ['getLatestLedger', 'getLedgers'],
    asked: 'all',
    agreed: 'the second highest; of two the lower one',
    alone: 'hold back part of the balance',
  },
}
