/** quote is a text as a literal of Python, JavaScript, Go, Java and C#, which agree on what is used here. */
export const quote = (s: string) =>
  '"' +
  s
    .replace(/[\\"]/g, "\\$&")
    .replace(/\n/g, "\\n")
    .replace(/\r/g, "\\r")
    .replace(/\t/g, "\\t")
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0")) +
  '"'

/** lines joins the lines that are there. */
export const lines = (...all: (string | false)[]) => all.filter((l) => l !== false).join("\n") + "\n"
