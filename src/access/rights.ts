import type { Rights } from './api-key.ts'
import type { Principal } from './principal.ts'
import { deploymentScopes } from './scope.ts'
import { isWithin, seesEverything } from './visibility.ts'

/** Returns the contradiction in the rights of a key, as a sentence that names the field; undefined when there is none. */
export function contradictionIn({ scopes, visibility, rules }: Rights): string | undefined {
  if (rules !== undefined && scopes.includes('api-keys:admin'))
    return 'body.scopes: api-keys:admin cannot be limited by rules, because it could create a key without them; leave the scope away, or the rules.'
  const [first, ...others] = seesEverything(visibility) ? [] : deploymentScopes(scopes)
  if (first === undefined) return undefined
  const all = [first, ...others].join(', ')
  return `body.scopes: ${all} cannot be limited to relayers or networks; leave the scope away, or relayers and networks.`
}

/** Returns the right that a key would have and its creator has not, as a sentence that names the field; undefined when there is none. */
export function excessOf(rights: Rights, creator: Principal): string | undefined {
  const further = rights.scopes.filter((scope) => !creator.may(scope))
  if (further.length > 0)
    return `body.scopes: your own key lacks ${further.join(', ')}, and a key cannot give what it lacks.`
  if (!isWithin(rights.visibility, creator.visibility))
    return 'body.relayers, body.networks: your own key does not see all of them.'
  if (isLater(rights.expiresAt, creator.expiresAt))
    return `body.expires_at: your own key ends at ${creator.expiresAt?.toISOString()}; expected that time or an earlier one.`
  return undefined
}

function isLater(wanted: Date | undefined, known: Date | undefined): boolean {
  return known !== undefined && (wanted === undefined || wanted.getTime() > known.getTime())
}
