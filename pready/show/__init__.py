"""What people see: tables, pictures, progress, text. Shows what others computed."""
