import type { Principal } from '../access/principal.ts'
import { SCOPES } from '../access/scope.ts'
import type { HandlerMap, Schemas } from '../contract/operations.ts'
import { omitUndefined } from '../lib/omit-undefined.ts'

/** The operation that shows callers their own rights. It reads nothing: the request was admitted with them. */
export function currentApiKeyHandlers(): Pick<HandlerMap, 'getCurrentApiKey'> {
  return { getCurrentApiKey: async (_input, { principal }) => ({ data: present(principal) }) }
}

function present({ id, visibility, rules, expiresAt, may }: Principal): Schemas['CurrentApiKey'] {
  return omitUndefined({
    id,
    scopes: SCOPES.filter((scope) => may(scope)),
    relayers: visibility.relayers,
    networks: visibility.networks,
    rules,
    expires_at: expiresAt?.toISOString(),
  })
}
