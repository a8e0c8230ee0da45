import type { Funding } from '../capabilities.ts'
import type { PooledClient } from '../rpc/rpc.ts'
import type { StellarPolicies, StellarRequest } from './content.ts'
import { pay } from './prepare/own-requests.ts'
import { readFunds } from './read/accounts.ts'

/** Creates the payments of a Stellar network. The first payment creates the account. */
export function createFunding(
  client: PooledClient,
  network: string,
): Funding<StellarRequest, StellarPolicies> {
  return {
    read: (address, { asOf } = {}) => readFunds(client, address, asOf),
    pay: (payment, account) => pay(network, payment, account),
  }
}
