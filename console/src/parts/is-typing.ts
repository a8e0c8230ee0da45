/** The elements that take keys for themselves. A checkbox does not, unless a dialog holds it. */
const TAKES_KEYS = 'input:not([type=checkbox], [type=radio], [type=button]), textarea, select, dialog'

/** Tells whether keys pressed now belong to a field or a dialog, so that no shortcut and no page may take them. */
export function isTyping(element: EventTarget | null = document.activeElement): boolean {
  return element instanceof Element && element.closest(TAKES_KEYS) !== null
}
