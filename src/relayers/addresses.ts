import type { Config } from '../config.ts'
import { ConfigError } from '../configuration/problems.ts'
import { evmAddress } from '../signers/address.ts'
import type { Signer } from '../signers/signer.ts'

/**
 * The EIP-55 address of each relayer, by relayer id.
 * @throws ConfigError when two relayers are the same account on the same chain id: each would take the other's nonces
 */
export function relayerAddresses(
  { relayers, networks }: Pick<Config, 'relayers' | 'networks'>,
  signers: ReadonlyMap<string, Signer>,
): Map<string, string> {
  const addresses = new Map<string, string>()
  const owners = new Map<string, string>()
  const problems: string[] = []
  for (const { id, network, signerId } of relayers) {
    const signer = signers.get(signerId)
    if (!signer) throw new Error(`Signer "${signerId}" was not loaded.`)
    const address = evmAddress(signer.publicKey)
    addresses.set(id, address)
    const account = `${address} on chain id ${networks.find(({ name }) => name === network)?.chainId}`
    const owner = owners.get(account)
    if (owner !== undefined) problems.push(`relayers "${owner}" and "${id}" are the same account: ${account}`)
    else owners.set(account, id)
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return addresses
}
