import { randomUUID } from 'node:crypto'
import type { Schemas } from '../../contract/operations.ts'
import { AppError } from '../../errors.ts'
import type { RpcUrl } from '../../networks/network.ts'
import type { Relayer, RelayerConfig } from '../../relayers/relayer.ts'
import { readRelayer, writeRelayer } from '../../relayers/relayer-document.ts'
import { mergePatch } from './merge-patch.ts'

/**
 * Reads the relayer that a caller describes by the rules of the configuration file.
 * @throws AppError 400 with every problem
 */
export function readCreation(body: Schemas['CreateRelayerRequest']): RelayerConfig {
  return chosenByCaller(read({ ...body, id: body.id ?? randomUUID() }))
}

/**
 * Applies a patch to a relayer.
 * @throws AppError 400 with every problem
 */
export function readPatched(relayer: Relayer, patch: Schemas['UpdateRelayerRequest']): RelayerConfig {
  const { customRpcUrls, ...patched } = read(mergePatch(writeRelayer(relayer), patch))
  if (patch.custom_rpc_urls !== undefined) return chosenByCaller({ ...patched, customRpcUrls })
  return relayer.customRpcUrls ? { ...patched, customRpcUrls: relayer.customRpcUrls } : patched
}

function read(document: unknown): RelayerConfig {
  const problems: string[] = []
  const relayer = readRelayer({ value: document, path: 'body' }, problems)
  if (relayer === undefined || problems.length > 0)
    throw new AppError('invalid_request', `${problems.join('; ')}.`)
  return relayer
}

/** Marks the urls as a caller's choice, so that the guarded HTTP client asks them. */
function chosenByCaller<T extends { readonly customRpcUrls?: readonly RpcUrl[] | undefined }>({
  customRpcUrls,
  ...relayer
}: T) {
  if (customRpcUrls === undefined) return relayer
  return { ...relayer, customRpcUrls: customRpcUrls.map((url) => ({ ...url, untrusted: true as const })) }
}
