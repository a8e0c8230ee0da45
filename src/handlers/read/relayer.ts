import { randomUUID } from 'node:crypto'
import { openReader } from '../../config/fields/reader.ts'
import type { RelayerConfig } from '../../config/load.ts'
import { readRelayer } from '../../config/relayers.ts'
import type { Schemas } from '../../contract/operations.ts'
import { AppError } from '../../errors.ts'
import type { RpcUrl } from '../../networks/network.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { presentPolicies } from '../present/relayer.ts'
import { mergePatch } from './merge-patch.ts'

/**
 * A relayer as a caller describes it, read as one of the configuration file is.
 * @throws AppError 400 with everything that is wrong with it
 */
export function readCreation(body: Schemas['CreateRelayerRequest']): RelayerConfig {
  return chosenByCaller(read({ ...body, id: body.id ?? randomUUID() }))
}

/**
 * What a relayer becomes by a patch.
 * @throws AppError 400 with everything that is wrong with it
 */
export function readPatched(relayer: Relayer, patch: Schemas['UpdateRelayerRequest']): RelayerConfig {
  const { customRpcUrls, ...patched } = read(mergePatch(write(relayer), patch))
  if (patch.custom_rpc_urls !== undefined) return chosenByCaller({ ...patched, customRpcUrls })
  return relayer.customRpcUrls ? { ...patched, customRpcUrls: relayer.customRpcUrls } : patched
}

function read(relayer: unknown): RelayerConfig {
  const problems: string[] = []
  const reader = openReader(relayer, 'body', problems)
  if (reader === undefined) throw new Error('a body that fits the contract is an object')
  const config = readRelayer(reader, problems)
  reader.finish()
  if (problems.length > 0) throw new AppError('invalid_request', `${problems.join('; ')}.`)
  return config
}

/** As it would stand in the configuration file. */
function write(relayer: Relayer): object {
  return {
    id: relayer.id,
    name: relayer.name,
    network: relayer.network,
    network_type: relayer.networkType,
    signer_id: relayer.signerId,
    notification_id: relayer.notificationId,
    paused: relayer.paused,
    policies: presentPolicies(relayer),
    custom_rpc_urls: relayer.customRpcUrls?.map(({ url, weight }) => ({ url, weight })),
    ...(relayer.networkType === 'stellar' && { channels: relayer.channels }),
  }
}

/** Those urls lead only where callers may lead us. */
function chosenByCaller<T extends { readonly customRpcUrls?: readonly RpcUrl[] | undefined }>({
  customRpcUrls,
  ...relayer
}: T) {
  if (customRpcUrls === undefined) return relayer
  return { ...relayer, customRpcUrls: customRpcUrls.map((url) => ({ ...url, untrusted: true as const })) }
}
