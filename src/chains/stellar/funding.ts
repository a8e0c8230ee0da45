import type { Funding } from '../capabilities.ts'
import type { StellarPolicies, StellarRequest } from './content.ts'
import { pay } from './prepare/own-requests.ts'
import type { FundsReader } from './read/accounts.ts'

/** Creates the payments of a Stellar network. The first payment creates the account. */
export function createFunding(
  { readFunds }: FundsReader,
  network: string,
): Funding<StellarRequest, StellarPolicies> {
  return {
    read: (address, { asOf } = {}) => readFunds(address, asOf),
    pay: (payment, account) => pay(network, payment, account),
  }
}
