import { randomUUID } from 'node:crypto'
import type { Schemas } from '../../contract/operations.ts'
import { AppError } from '../../errors.ts'
import type { RpcUrl } from '../../networks/network.ts'
import { writePoliciesOf } from '../../relayers/policies/policies.ts'
import type { Relayer, RelayerConfig } from '../../relayers/relayer.ts'
import { readRelayer, writeRelayer } from '../../relayers/relayer-document.ts'

/**
 * Reads the relayer that a caller describes by the rules of the configuration file.
 * @throws AppError 400 with every problem
 */
export function readCreation(body: Schemas['CreateRelayerRequest']): RelayerConfig {
  return chosenByCaller(read({ ...body, id: body.id ?? randomUUID() }))
}

/**
 * Applies a patch to a relayer. Null takes policies back to `initial`, which are those of the configuration
 * file.
 * @throws AppError 400 with every problem
 */
export function readPatched(
  relayer: Relayer,
  patch: Schemas['UpdateRelayerRequest'],
  initial: object = {},
): RelayerConfig {
  const policies = resetPolicies(patch, { present: writePoliciesOf(relayer), initial })
  const merged = mergePatch(withoutRules(writeRelayer(relayer), patch), { ...patch, ...policies })
  const { customRpcUrls, ...patched } = read(merged)
  if (patch.custom_rpc_urls !== undefined) return chosenByCaller({ ...patched, customRpcUrls })
  return relayer.customRpcUrls ? { ...patched, customRpcUrls: relayer.customRpcUrls } : patched
}

/** New rules replace the current ones as a whole: remains of old ones could have unexpected effects. */
function withoutRules(document: object, { policies }: Schemas['UpdateRelayerRequest']): unknown {
  return policies?.rules === undefined ? document : mergePatch(document, { policies: { rules: null } })
}

/**
 * Replaces null by the policy that it means, where that is not the default. Null for all policies means each
 * of them.
 */
function resetPolicies(
  { policies }: Schemas['UpdateRelayerRequest'],
  { present, initial }: { readonly present: object; readonly initial: object },
): object {
  if (policies === undefined) return {}
  const known = new Map<string, unknown>(Object.entries(initial))
  const all = [...Object.keys(present), ...known.keys()].map((name) => [name, null] as const)
  const wanted = (policies === null ? all : Object.entries(policies)).map(([name, value]) => [
    name,
    value ?? known.get(name) ?? null,
  ])
  return { policies: Object.fromEntries(wanted) }
}

function read(document: unknown): RelayerConfig {
  const problems: string[] = []
  const relayer = readRelayer({ value: document, path: 'body' }, problems)
  if (relayer === undefined || problems.length > 0)
    throw new AppError('invalid_request', `${problems.join('; ')}.`)
  return relayer
}

/** Marks the URLs as a caller's choice, so that the guarded HTTP client is used. */
function chosenByCaller<T extends { readonly customRpcUrls?: readonly RpcUrl[] | undefined }>({
  customRpcUrls,
  ...relayer
}: T) {
  if (customRpcUrls === undefined) return relayer
  return { ...relayer, customRpcUrls: customRpcUrls.map((url) => ({ ...url, untrusted: true as const })) }
}

/**
 * Applies a JSON merge patch (RFC 7396): `null` removes a field, objects are merged, any other value replaces
 * the field.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key), value))
  }
  return Object.fromEntries(merged)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
