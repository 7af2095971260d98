"""jupyter_kernel_test, whole: every sample given, nothing skipped."""

import unittest

import jupyter_kernel_test


class WarpbookKernelTests(jupyter_kernel_test.KernelTests):
    kernel_name = "warpbook"
    language_name = "go"
    file_extension = ".go"

    code_hello_world = 'fmt.Println("hello, world")'
    code_stderr = 'fmt.Fprintln(os.Stderr, "oops")'
    completion_samples = [
        {"text": "strings.ToTi", "matches": {"ToTitle", "ToTitleSpecial"}},
        {"text": "fmt.Fpr"},
        {"text": "len(stri"},
        {"text": "%ti"},
    ]
    complete_code_samples = ["x := 1", "func f() int {\n\treturn 1\n}", "1 + 2", "import \"fmt\"", "%who", ""]
    incomplete_code_samples = ["func f() {", "for i := range 3 {", "x := []int{1,", "s := `a\nb", "1 +"]
    invalid_code_samples = ["func )", "x := := 3", "}"]
    code_page_something = "strings.Split?"
    code_generate_error = 'panic("on purpose")'
    code_execute_result = [
        {"code": "6 * 7", "result": "42"},
        {"code": '"a" + "b"', "result": '"ab"'},
        {"code": "[]int{1, 2, 3}"},
        {"code": "40 + 2", "result": "42"},
    ]
    code_display_data = [
        {"code": 'display.HTML("<b>bold</b>")', "mime": "text/html"},
        {"code": 'display.Markdown("**bold**")', "mime": "text/markdown"},
        {"code": 'display.LaTeX("x^2")', "mime": "text/latex"},
        {"code": "display.Image(image.NewRGBA(image.Rect(0, 0, 4, 4)))", "mime": "image/png"},
        {"code": 'display.SVG(`<svg xmlns="http://www.w3.org/2000/svg"/>`)', "mime": "image/svg+xml"},
        {"code": 'display.JSON(map[string]int{"a": 1})', "mime": "application/json"},
    ]
    code_history_pattern = "6 * 7"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "strings.Split"
    code_clear_output = "display.ClearOutput(false)"


class WarpbookWelcomeTests(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = "warpbook"
    support_iopub_welcome = True


if __name__ == "__main__":
    unittest.main()
